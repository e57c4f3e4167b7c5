"""The detail lane: which applications are read whole in this sync, and reading them, four at once."""

import logging
import time
from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field

from apps.platforms.connector import Connector, Detail, State, UpstreamError
from apps.platforms.snapshot import base
from apps.platforms.sync.stored import Stored

MAX_AT_ONCE = 4
MAX_FAILURES = 8  # in a row: then it is not the applications
NOT_UNDERSTOOD = "What the platform said of it could not be understood."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Due:
    """Applications in the order in which they are read: `first` (new and changed ones), then `rotation`."""

    first: tuple[base.AppState, ...]
    rotation: tuple[base.AppState, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """How many calls details may take, and how many seconds: after that none is begun. None: no limit."""

    calls: int | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Reading:
    """What was read, by application; `failed` could not be. `cursor`: the last of the rotation that was tried."""

    details: dict[str, Detail] = field(default_factory=dict)
    failed: dict[str, UpstreamError] = field(default_factory=dict)
    cursor: str | None = None


def due(state: State, stored: Stored, news: Collection[str], cursor: str | None) -> Due:
    """New applications, then those that changed, then the others by key, from where the last rotation stopped."""
    new = [app for app in state.apps if app.key not in stored.apps]
    changed = [app for app in state.apps if app.key in stored.apps and _has_changed(app, stored, news)]
    chosen = {app.key for app in (*new, *changed)}
    rest = sorted((app for app in state.apps if app.key not in chosen), key=lambda app: app.key)
    after = [app for app in rest if cursor is None or app.key > cursor]
    return Due(first=(*new, *changed), rotation=(*after, *rest[: len(rest) - len(after)]))


def _has_changed(app: base.AppState, stored: Stored, news: Collection[str]) -> bool:
    old = stored.apps[app.key]
    is_other = (app.status, app.upstream_status) != (old.status, old.upstream_status)
    return is_other or old.is_hidden or app.key in news


def read_details(
    connector: Connector,
    apps: Due,
    limit: Limit,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
    on_first: Callable[[Reading], None] = lambda reading: None,
) -> Reading:
    """Reads as many as the limit allows. Raises UpstreamError where it makes no sense to go on.

    An application that cannot be read is `failed`, and the others are read; so many in a row, or a platform that asks
    for a pause, end the reading. `on_progress` is called in this thread, and so is `on_first`: once those are read that
    come first, and the others are about to be.
    """
    reading, budget, total = Reading(), _Budget(connector, limit), len(apps.first) + len(apps.rotation)
    goes_on = _read_some(reading, apps.first, budget, lambda done: on_progress(done, total))
    if goes_on and apps.rotation:
        on_first(reading)
        _read_some(reading, apps.rotation, budget, lambda done: on_progress(done, total), is_rotation=True)
    return reading


def _read_some(
    reading: Reading,
    apps: Sequence[base.AppState],
    budget: "_Budget",
    on_progress: Callable[[int], None],
    *,
    is_rotation: bool = False,
) -> bool:
    """Whether it makes sense to ask for more."""
    in_a_row = 0
    with closing(_results(apps, budget)) as results:
        for app, result in results:
            if is_rotation:
                reading.cursor = app.key
            if isinstance(result, Detail):
                reading.details[app.key], in_a_row = result, 0
            elif result.is_permanent:
                raise result
            else:
                reading.failed[app.key], in_a_row = result, in_a_row + 1
                if in_a_row >= MAX_FAILURES or result.retry_after is not None:
                    return False
            on_progress(len(reading.details) + len(reading.failed))
    return True


Result = tuple[base.AppState, Detail | UpstreamError]


def _results(apps: Sequence[base.AppState], budget: "_Budget") -> Generator[Result, None, None]:
    """In the order of `apps`, so that a rotation has no gaps."""
    waiting = iter(apps)
    running: list[tuple[base.AppState, Future[Detail | UpstreamError]]] = []
    pool = ThreadPoolExecutor(MAX_AT_ONCE, thread_name_prefix="details")
    try:
        while True:
            while len(running) < 2 * MAX_AT_ONCE and budget.allows(len(running)):
                if (app := next(waiting, None)) is None:
                    break
                running.append((app, pool.submit(_read, budget.connector, app)))
            if not running:
                return
            app, future = running.pop(0)
            result = future.result()
            budget.done += 1
            yield app, result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@dataclass(slots=True)
class _Budget:
    """Whether another detail fits, going by what they have taken so far."""

    connector: Connector
    limit: Limit
    done: int = 0
    calls_before: int = field(init=False)
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.calls_before, self.began = self.connector.calls, time.monotonic()

    def allows(self, running: int) -> bool:
        if self.limit.seconds is not None and time.monotonic() - self.began >= self.limit.seconds:
            return False
        if self.limit.calls is None:
            return True
        if not self.done:  # nobody knows yet what one takes
            return running < min(MAX_AT_ONCE, self.limit.calls)
        each = max(1.0, (self.connector.calls - self.calls_before) / self.done)  # those under way are among the calls
        return (self.done + running + 1) * each <= self.limit.calls


def _read(connector: Connector, app: base.AppState) -> Detail | UpstreamError:
    try:
        return connector.read_detail(app)
    except UpstreamError as error:
        return error
    except Exception as error:  # one application's oddity must not keep all others from being read
        # Its class alone: its words may quote what was received.
        logger.error(NOT_UNDERSTOOD, extra={"fields": {"application": app.key, "exception": type(error).__name__}})
        return UpstreamError(NOT_UNDERSTOOD)
