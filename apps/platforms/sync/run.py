"""One sync of one platform: reads it, and applies what was read in one transaction."""

import logging
import math
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils import timezone

from apps.jobs.leases import LeaseLost
from apps.orgs.models import Platform
from apps.platforms.connector import STATE_PERIOD, Connector, State, UpstreamError
from apps.platforms.connectors import connector_of, release
from apps.platforms.models import PlatformConnection
from apps.platforms.snapshot.differences import Changes
from apps.platforms.snapshot.hiding import TooManyDeletions
from apps.platforms.sync.details import Limit, Reading, due, read_details
from apps.platforms.sync.rows import SyncedRows, give_database_back
from apps.platforms.sync.stored import apps_with_news, stored_of
from apps.web.progress import tell

SHARE_OF_DETAILS = 4  # at least one call in so many is for details, however many the state takes
SHARE_OF_PERIOD = 0.8  # after that no detail is begun, so that the next state finds turns and is read at once
MAX_NAMES = 100  # of applications, for whoever has to confirm that they go
MAX_PLACES = 6
PROGRESS_EVERY = 1.0  # seconds
OTHER_ORGANIZATION = "The key is now for another organization. Connect the platform anew."
OUR_FAULT = "Porthole itself failed ({}). Its log says more."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one sync came to. `period`: seconds until the next one is due; `is_whole`: every application is stored."""

    changes: Changes
    apps: int
    read: int
    failed: int
    left_out: dict[str, int]
    calls: int
    period: int
    is_whole: bool
    problem: str | None = None


@dataclass(slots=True)
class _Sync:
    """What is known while it runs. `is_first`: nothing of the platform is stored."""

    connection: PlatformConnection
    connector: Connector
    began: float = field(default_factory=time.monotonic)
    told: float = 0.0

    @property
    def platform(self) -> Platform:
        return self.connection.platform

    @property
    def duration_ms(self) -> int:
        return round((time.monotonic() - self.began) * 1000)

    def show(self, done: int, of: int) -> None:
        """How far it has got, for the admin's page; at most once a second. A command shows it as often as it likes."""
        tell("Reading", done, of, "applications")
        if time.monotonic() - self.told >= PROGRESS_EVERY:
            self.told = time.monotonic()
            _note(self.connection, progress={"read": done, "of": of})


def sync_platform(platform_id: int, *, connect: Callable[[PlatformConnection], Connector] = connector_of) -> Outcome:
    """Raises UpstreamError or TooManyDeletions, and whatever else went wrong: then no row has changed. Only where what
    comes around in turns could not be read, that is not undone which the state and what is new had told before.

    How it went is noted on the connection and the platform either way.
    """
    connection = PlatformConnection.objects.select_related("platform").get(pk=platform_id)
    began, is_good = time.monotonic(), False
    try:
        outcome = _run(_Sync(connection, connect(connection), began))
        is_good = True
    except LeaseLost:
        raise  # another worker does it now, and notes how that goes
    except Exception as error:  # noted, and raised again
        _note_failure(connection, error, round((time.monotonic() - began) * 1000))
        raise
    finally:
        release(connection, is_good=is_good)
    return outcome


def _run(sync: _Sync) -> Outcome:
    connection, connector, platform = sync.connection, sync.connector, sync.platform
    _note(connection, progress={})
    give_database_back()
    calls_before, read_at = connector.calls, timezone.now()
    state = connector.read_state(is_first=platform.last_sync_at is None)
    if state.identity.organization_key != connection.organization_key:
        raise UpstreamError(OTHER_ORGANIZATION, is_permanent=True)
    stored, period = stored_of(platform), _period(connector)
    order = due(state, stored, apps_with_news(platform, state.deployments or ()), connection.detail_cursor)
    rows = SyncedRows(connection, state, stored, read_at, platform.last_sync_at)
    limit = _limit(connector, period, sync.duration_ms / 1000, is_first=not stored.apps)
    try:
        reading = read_details(connector, order, limit, sync.show, rows.apply_first)
    except UpstreamError:
        rows.give_age()
        raise
    if reading.failed and not reading.details and not stored.apps:
        raise next(iter(reading.failed.values()))
    rows.apply(reading)
    outcome = Outcome(
        changes=rows.changes, apps=len(state.apps), read=len(reading.details), failed=len(reading.failed),
        left_out=dict(rows.left_out), calls=connector.calls - calls_before, period=period, is_whole=rows.is_whole,
        problem=_problem(reading),
    )  # fmt: skip
    _note_success(sync, state, reading, outcome, is_first=not stored.apps)
    return outcome


def _period(connector: Connector) -> int:
    """Seconds: a minute, or as long as the calls for the state take at the pace that is allowed."""
    needed = connector.state_calls() * 60 / connector.calls_per_minute
    return max(STATE_PERIOD, math.ceil(needed / 10) * 10)


def _limit(connector: Connector, period: int, seconds: float, *, is_first: bool) -> Limit:
    """`seconds`: what the state took. A first sync reads all, however long that takes."""
    if is_first:
        return Limit()
    calls = connector.calls_per_minute * period // 60
    least = calls // SHARE_OF_DETAILS
    return Limit(
        calls=max(calls - connector.state_calls(), least),
        seconds=max(period * SHARE_OF_PERIOD - seconds, period / SHARE_OF_DETAILS),
    )


def _problem(reading: Reading) -> str | None:
    """For operators, where a sync succeeded but for some applications."""
    if not reading.failed:
        return None
    count, total = len(reading.failed), len(reading.failed) + len(reading.details)
    return f"{count} of {total} applications could not be read. {next(iter(reading.failed.values())).sentence}"


def _note_success(sync: _Sync, state: State, reading: Reading, outcome: Outcome, *, is_first: bool) -> None:
    identity, duration = state.identity, sync.duration_ms
    _note(
        sync.connection,
        last_error=None if outcome.problem is None else outcome.problem[:300],
        last_duration_ms=duration,
        last_counts=_counts(state, outcome),
        deletions_to_confirm=None,
        detail_cursor=reading.cursor or sync.connection.detail_cursor,
        organization_name=identity.organization_name[:200],
        role=None if identity.role is None else identity.role[:50],
        can_write=identity.can_write,
        progress=None,
    )
    took = 0 if is_first else math.ceil(duration / 1000 / 10) * 10
    achieved = max(outcome.period, took)
    _note_platform(sync.connection, sync_period=achieved, detail_period=_detail_period(achieved, outcome))


def _counts(state: State, outcome: Outcome) -> dict[str, Any]:
    changes = outcome.changes
    return {
        "projects": len(state.projects), "apps": outcome.apps, "read": outcome.read, "failed": outcome.failed,
        "calls": outcome.calls, "created": changes.created, "updated": changes.updated, "deleted": changes.deleted,
        "hidden": changes.hidden, "left_out": outcome.left_out,
    }  # fmt: skip


def _detail_period(period: int, outcome: Outcome) -> int | None:
    """Seconds in which the rotation comes around; doubled in steps, since it is a column of many rows."""
    if outcome.read >= outcome.apps:
        return None
    rounds = math.ceil(outcome.apps / max(1, outcome.read))
    return int(min(period * 2 ** math.ceil(math.log2(rounds)), 7 * 86400))


def _note_failure(connection: PlatformConnection, error: Exception, duration_ms: int) -> None:
    sentence = sentence_of(error)
    fields = {"platform": connection.pk, "reason": sentence, "exception": type(error).__name__}
    if not isinstance(error, UpstreamError | TooManyDeletions):
        fields["where"] = places_in(error)
    logger.warning("A platform could not be synced.", extra={"fields": fields})
    changes: dict[str, Any] = {"last_error": sentence[:300], "last_duration_ms": duration_ms, "progress": None}
    if isinstance(error, TooManyDeletions):
        at = timezone.now().isoformat(timespec="seconds")
        names = list(error.names[:MAX_NAMES])
        changes["deletions_to_confirm"] = {"hidden": error.hidden, "of": error.of, "names": names, "at": at}
    _note(connection, **changes)
    _note_platform(connection, last_sync_status=Platform.SyncStatus.ERROR)


def sentence_of(error: Exception) -> str:
    """What is wrong, for operators. Of what was received or sent nothing is in it."""
    if isinstance(error, UpstreamError):
        return error.sentence
    if isinstance(error, TooManyDeletions):
        return (
            f"{error.hidden} of {error.of} applications are no longer there. That is so much that somebody has to "
            "confirm it; until then everything stays as it is."
        )
    return OUR_FAULT.format(type(error).__name__)


def places_in(error: BaseException) -> list[str]:
    """Where it was raised, the innermost place last: without its words, which may quote what was received."""
    frames = traceback.extract_tb(error.__traceback__)[-MAX_PLACES:]
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]


def _note(connection: PlatformConnection, **changes: Any) -> None:
    PlatformConnection.objects.filter(pk=connection.pk).update(**changes)


def _note_platform(connection: PlatformConnection, **changes: Any) -> None:
    """Unless it was disconnected meanwhile."""
    Platform.objects.filter(pk=connection.pk, connection__isnull=False).update(**changes)
