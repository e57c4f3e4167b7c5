"""Makes rows of what one sync read, in two steps: the state with what is new, then what came around."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection as database
from django.db import transaction
from django.db.models import Min

from apps.jobs.leases import confirm
from apps.orgs.models import Organization, Platform
from apps.platforms.connector import State, UpstreamError
from apps.platforms.models import PlatformConnection
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply
from apps.platforms.snapshot.differences import Changes
from apps.platforms.snapshot.hiding import TooManyDeletions
from apps.platforms.snapshot.stored import stored_rows
from apps.platforms.sync.compose import compose
from apps.platforms.sync.details import Reading
from apps.platforms.sync.fit import fitted
from apps.platforms.sync.runtimes import note_age
from apps.platforms.sync.stored import Stored, kept_of

DISCONNECTED = "The platform was disconnected meanwhile."


def give_database_back() -> None:
    """A platform may take minutes to answer, and there are fewer connections than platforms."""
    if not database.in_atomic_block:
        database.close()


@dataclass(slots=True)
class SyncedRows:
    """Makes rows of what one sync read: first of the state and what is new, then of what came around.

    `read_at`: when the state began to be read; `before`: the last sync.
    """

    connection: PlatformConnection
    state: State
    stored: Stored
    read_at: datetime
    before: datetime | None
    changes: Changes = field(default_factory=Changes)
    left_out: Counter[str] = field(default_factory=Counter)
    is_whole: bool = False
    runtimes: set[str] | None = None  # of applications, that were applied

    def apply_first(self, reading: Reading) -> None:
        """The rest may take most of a minute: what is known now would be so much older by then."""
        self._apply(reading)
        give_database_back()

    def apply(self, reading: Reading) -> None:
        self._apply(reading, is_all=True)

    def give_age(self) -> None:
        """What was not read is no younger than it was, though the state is."""
        if self.before is not None and self.runtimes is not None:
            note_age(self.connection.platform, self.runtimes, self.before)

    def _apply(self, reading: Reading, *, is_all: bool = False) -> None:
        """In one transaction, and only while this worker's lease is its own."""
        platform = self.connection.platform
        composed = compose(self.state, reading.details, self.stored, kept_of(platform, self.state))
        snapshot, self.left_out = fitted(composed, stored_rows(platform, composed))
        self.is_whole = len(snapshot.apps) + len(snapshot.app_states) == len(self.state.apps)
        self.runtimes = {runtime.app for runtime in snapshot.runtimes}
        with transaction.atomic():
            self.changes += _apply_confirmed(self.connection, snapshot, self.read_at)
            if is_all:
                self.give_age()
            if self.before is None and _waits(self.state, self.stored, reading, self.is_whole):
                forget_sync(platform)
            confirm()
            if not PlatformConnection.objects.filter(pk=platform.pk).exists():  # asked while the platform is locked
                raise UpstreamError(DISCONNECTED, is_permanent=True)


def _waits(state: State, stored: Stored, reading: Reading, is_whole: bool) -> bool:
    """Whether there are applications that were never read, nor refused twice: then nobody may take this for all."""
    tried = {*stored.apps, *reading.details, *reading.failed}
    return not is_whole and (not stored.apps or any(app.key not in tried for app in state.apps))


def _apply_confirmed(connection: PlatformConnection, snapshot: base.Snapshot, read_at: datetime) -> Changes:
    """Hides no more than somebody agreed to, where it is so much that somebody has to."""
    try:
        return apply(connection.platform, snapshot, is_checked=True, read_at=read_at)
    except TooManyDeletions as found:
        agreed = connection.deletions_to_confirm or {}
        if not agreed.get("is_confirmed") or found.hidden > agreed["hidden"]:
            raise
    return apply(connection.platform, snapshot, is_checked=True, allow_deletions=True, read_at=read_at)


def forget_sync(platform: Platform) -> None:
    """As long as not every application was read once, or nobody reads any more, nothing is synced."""
    Platform.objects.filter(pk=platform.pk).update(last_sync_at=None, last_sync_status=Platform.SyncStatus.NEVER)
    oldest = Platform.objects.filter(organization=platform.organization_id).aggregate(at=Min("last_sync_at"))["at"]
    Organization.objects.filter(pk=platform.organization_id).update(synced_at=oldest)
