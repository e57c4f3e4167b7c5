"""When authorizations were last used: noted in memory, and written behind by a thread, so that no call waits for it."""

import atexit
import logging
import threading
import time
from datetime import datetime, timedelta
from uuid import UUID

from django.db import Error as DatabaseError
from django.db import connection, transaction
from django.db.models import Case, DateTimeField, Q, QuerySet, Value, When

from apps.oauthmcp.models import Authorization

log = logging.getLogger("porthole.uses")

PRECISION = timedelta(minutes=1)  # any finer, and most reads would be writes too
MAX_PENDING = 10_000  # what is beyond is noted at its next call
BATCH = 200  # authorizations in one statement
PAUSE = 0.5  # seconds from a first note to the statement, which takes others' along
MAX_PAUSE = 60.0  # seconds between attempts at a database that takes no writes


class Uses:
    """Uses that are not written yet: authorization → when."""

    def __init__(self) -> None:
        self._pending: dict[UUID, datetime] = {}
        self._lock = threading.Lock()
        self._has_work = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self, authorization_id: UUID, at: datetime) -> None:
        """Returns at once. Of an authorization whose use is pending, the first stays."""
        with self._lock:
            if len(self._pending) < MAX_PENDING:
                self._pending.setdefault(authorization_id, at)
        self._has_work.set()
        self.start()

    def start(self) -> None:
        """Starts the thread, once in a process: one that was forked has none of its parent's."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="uses", daemon=True)
                self._thread.start()
                atexit.register(self.write)

    def write(self) -> bool:
        """Writes what is pending. False: something is left, which the database did not take."""
        try:
            is_done = [self._write(batch) for batch in self._batches()]
        except DatabaseError as error:
            log.info("uses of authorizations are written later: %s", type(error).__name__)
            return False
        return all(is_done)

    def _run(self) -> None:
        pause = PAUSE
        while self._has_work.wait():
            time.sleep(pause)
            self._has_work.clear()
            is_done = self.write()
            connection.close()  # of this thread: the database keeps none for it in between
            pause = PAUSE if is_done else min(2 * pause, MAX_PAUSE)
            if not is_done:
                self._has_work.set()

    def _batches(self) -> list[dict[UUID, datetime]]:
        with self._lock:
            items = list(self._pending.items())
        return [dict(items[start : start + BATCH]) for start in range(0, len(items), BATCH)]

    def _write(self, batch: dict[UUID, datetime]) -> bool:
        _update(batch)
        left = set(_due(batch).values_list("pk", flat=True))
        with self._lock:
            for id in batch:
                if id not in left:
                    self._pending.pop(id, None)
        return not left


def _update(batch: dict[UUID, datetime]) -> None:
    """One statement. Rows that others hold are left for later."""
    with transaction.atomic():
        # On SQLite, which has no row locks, this is the same without them.
        unlocked = _due(batch).select_for_update(skip_locked=True)
        Authorization.objects.filter(pk__in=unlocked.values("pk")).update(last_used_at=_times(batch))


def _due(batch: dict[UUID, datetime]) -> QuerySet[Authorization]:
    """Those of which nobody has written a use meanwhile."""
    is_due = Q(last_used_at=None) | Q(last_used_at__lt=_times(batch, before=PRECISION))
    return Authorization.objects.filter(is_due, pk__in=list(batch))


def _times(batch: dict[UUID, datetime], before: timedelta = timedelta()) -> Case:
    whens = (When(pk=id, then=Value(at - before)) for id, at in batch.items())
    return Case(*whens, output_field=DateTimeField())


uses = Uses()
