"""The rows that a snapshot may refer to although it does not tell them: they were not read this time."""

from typing import Any

from django.db.models import QuerySet

from apps.orgs.models import App, Domain, Environment, Platform, Preview, Project, SourceConnection
from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import Stored, StoredRow


def stored_rows(platform: Platform, snapshot: base.Snapshot) -> Stored:
    """Of the collections that the snapshot names as unread, and the applications that it tells in part, by key."""
    unread: dict[str, set[str | None]] = {}
    for collection, app in snapshot.unread:
        unread.setdefault(collection, set()).add(app)
    rows = {name: _rows(name, platform, apps) for name, apps in unread.items() if name in COLUMNS}
    if snapshot.app_states:
        rows["app_states"] = _by_key(App.objects.filter(platform=platform), COLUMNS["apps"][1])
    return rows


def _rows(collection: str, platform: Platform, apps: set[str | None]) -> dict[str, StoredRow]:
    model, columns = COLUMNS[collection]
    rows: QuerySet[Any] = model._default_manager.filter(platform=platform)
    if model is App:
        rows = rows.filter(hidden_at__isnull=True)
    found = _by_key(rows, columns)
    return found if None in apps else {key: row for key, row in found.items() if row.app in apps}


def _by_key(rows: QuerySet[Any], columns: dict[str, str]) -> dict[str, StoredRow]:
    told = rows.values_list("external_id", "pk", *columns.values()).iterator()
    return {key: StoredRow(pk, **dict(zip(columns, more, strict=True))) for key, pk, *more in told}


# By collection: the model, and what of a row others are compared with.
COLUMNS: dict[str, tuple[type[Any], dict[str, str]]] = {
    "connections": (SourceConnection, {}),
    "projects": (Project, {}),
    "environments": (Environment, {"project": "project__external_id"}),
    "apps": (App, {}),
    "previews": (Preview, {"app": "app__external_id"}),
    "domains": (Domain, {"app": "app__external_id"}),
}
