"""Applications that a source no longer has: hidden at once, kept for seven days with all that belongs to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from apps.orgs.models import App, Platform
from apps.platforms.models import PlatformConnection
from apps.platforms.snapshot import base
from apps.platforms.snapshot.differences import BATCH

REMEMBERED = timedelta(hours=24)  # how long an application that was hidden counts with those that are to be
MAX_TO_HIDE = 0.5  # of those that are visible, unless somebody agrees


class TooManyDeletions(Exception):  # what it stops is right, but somebody has to agree
    """So many applications would be hidden that an operator has to agree: `hidden` of `of`, the latest ones included.

    `names` are those of the applications that would be hidden now.
    """

    def __init__(self, hidden: int, of: int, names: Sequence[str] = ()) -> None:
        super().__init__(f"{hidden} of {of} applications would be hidden")
        self.hidden, self.of, self.names = hidden, of, tuple(names)


@dataclass(frozen=True)
class Leaving:
    """The visible applications that a snapshot no longer has, by name."""

    ids: tuple[str, ...]
    names: tuple[str, ...]


def leaving(platform: Platform, snapshot: base.Snapshot) -> Leaving:
    if ("apps", None) in snapshot.unread:
        return Leaving((), ())
    told = {app.key for app in snapshot.apps} | {app.key for app in snapshot.app_states}
    rows = _visible(platform).order_by("sort_key", "id").values_list("external_id", "id", "name").iterator()
    gone = [(id, name) for key, id, name in rows if key not in told]
    return Leaving(tuple(id for id, _ in gone), tuple(name for _, name in gone))


def guard(platform: Platform, gone: Leaving, now: datetime) -> TooManyDeletions | None:
    """What there is to agree to: every application would be hidden, or (two at least) half of them or more.

    Those that were hidden within a day, and since somebody last agreed, count too: a source that loses one
    application after another loses many.
    """
    if not gone.ids:
        return None
    visible = _visible(platform).count()
    before = App.objects.filter(platform=platform, hidden_at__gt=_counted_from(platform, now)).count()
    hidden, of = len(gone.ids) + before, visible + before
    is_too_much = len(gone.ids) == visible or (hidden >= 2 and hidden >= of * MAX_TO_HIDE)
    return TooManyDeletions(hidden, of, gone.names) if is_too_much else None


def hide(platform: Platform, gone: Leaving, now: datetime) -> int:
    for start in range(0, len(gone.ids), BATCH):
        App.objects.filter(pk__in=gone.ids[start : start + BATCH]).update(hidden_at=now)
    return len(gone.ids)


def hidden_ids(platform: Platform) -> set[str]:
    return set(_hidden(platform).values_list("pk", flat=True))


def leave_projects(platform: Platform, projects: Sequence[str]) -> None:
    """Takes hidden applications out of projects that are about to be deleted, which would delete them too."""
    for start in range(0, len(projects), BATCH):
        _hidden(platform).filter(project_id__in=projects[start : start + BATCH]).update(project=None)


def _visible(platform: Platform) -> QuerySet[App]:
    return App.objects.filter(platform=platform, hidden_at__isnull=True)


def _hidden(platform: Platform) -> QuerySet[App]:
    # The organization is there for the index of those that are hidden.
    return App.objects.filter(organization_id=platform.organization_id, platform=platform, hidden_at__isnull=False)


def _counted_from(platform: Platform, now: datetime) -> datetime:
    of_connection = PlatformConnection.objects.filter(platform=platform).values_list("confirmed_at", flat=True)
    moments = (now - REMEMBERED, platform.deletions_confirmed_at, *of_connection)
    return max(moment for moment in moments if moment is not None)
