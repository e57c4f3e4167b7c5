"""Who may wait for a fetch: few callers in each process, fewer of each organization, nobody for a silent host."""

import json
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from apps.sources.git import stamps
from apps.sources.git.fetch import FetchFailed

# Of silence, in seconds.
FIRST_SILENCE = 15
MAX_SILENCE = 600
# What was heard from a host so lately vouches for it: one slow repository does not make its host a silent one.
HEARD_LATELY = 600
MAX_BUCKETS = 10_000


class Busy(FetchFailed):
    """Not now. `retry_after` is in seconds."""

    def __init__(self, why: str, retry_after: float) -> None:
        super().__init__(why)
        self.retry_after = max(1, round(retry_after))


class Places:
    """Places for callers or fetches of this process: `total` of them, and at most `each` for one organization."""

    def __init__(self, total: int, each: int) -> None:
        self._total, self._each = total, each
        self._taken: Counter[str] = Counter()
        self._changed = threading.Condition()

    @contextmanager
    def take(self, organization: str, *, seconds: float = 0) -> Iterator[None]:
        """Hold a place. Raises Busy when there is none within `seconds`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_free(organization), max(0.0, seconds)):
                raise Busy("Too many are being fetched, or waited for.", 3)
            self._taken[organization] += 1
        try:
            yield
        finally:
            with self._changed:
                self._taken[organization] -= 1
                if not self._taken[organization]:
                    del self._taken[organization]
                self._changed.notify_all()

    def _is_free(self, organization: str) -> bool:
        return self._taken.total() < self._total and self._taken[organization] < self._each


class Budget:
    """Token buckets: `burst` at once for each key, and one more every `seconds`."""

    def __init__(self, burst: int, seconds: float) -> None:
        self._burst, self._seconds = burst, seconds
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()
        self._guard = threading.Lock()

    def spend(self, key: object) -> None:
        """Raises Busy when nothing is left."""
        with self._guard:
            left = self._left(key)
            if left < 1:
                raise Busy("Too many refs that are not there were asked for.", (1 - left) * self._seconds)
            self._keep(key, left - 1)

    def give_back(self, key: object) -> None:
        with self._guard:
            self._keep(key, min(self._burst, self._left(key) + 1))

    def forget(self) -> None:
        with self._guard:
            self._buckets.clear()

    def _left(self, key: object) -> float:
        left, at = self._buckets.get(key, (float(self._burst), 0.0))
        return min(self._burst, left + (time.monotonic() - at) / self._seconds)

    def _keep(self, key: object, left: float) -> None:
        self._buckets[key] = (left, time.monotonic())
        self._buckets.move_to_end(key)
        while len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)


class Host:
    """What is remembered of a host, in a file, so that every process and every mirror of that host knows it."""

    def __init__(self, mirrors: Path, host: str) -> None:
        self._path = mirrors / "hosts" / f"{stamps.digest(host)}.json"

    def check(self) -> None:
        """Raises Busy while the host is taken for silent."""
        _, until, _ = self._read()
        left = until - stamps.now()
        if 0 < left <= MAX_SILENCE:  # more than that only says that the clock was set back
            raise Busy("Its host was silent a moment ago.", left)

    def was_silent(self) -> None:
        """Somebody waited in vain: leave it alone, each time in a row for twice as long."""
        heard_at, until, times = self._read()
        if 0 <= stamps.now() - heard_at < HEARD_LATELY or until > stamps.now():
            return
        pause = min(MAX_SILENCE, FIRST_SILENCE * 2 ** min(times, 10))
        self._write(heard_at, stamps.now() + pause, times + 1)

    def was_heard(self) -> None:
        heard_at, until, _ = self._read()
        if until or not 0 <= stamps.now() - heard_at < HEARD_LATELY / 2:
            self._write(stamps.now(), 0.0, 0)

    def _read(self) -> tuple[float, float, int]:
        """When it was last heard, until when it is left alone (Unix times), and how often in a row it was silent."""
        try:
            heard_at, until, times = json.loads(self._path.read_bytes())
            return float(heard_at), float(until), int(times)
        except (OSError, ValueError, TypeError, OverflowError):
            return 0.0, 0.0, 0

    def _write(self, heard_at: float, until: float, times: int) -> None:
        # A full disk only means that nothing is remembered. A torn file reads as nothing.
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self._path.with_suffix(f".{threading.get_ident()}.new")
            new.write_text(json.dumps([heard_at, until, times]))
            new.replace(self._path)
