"""A platform's rows → the manifest that makes them. Reading that manifest and exporting again gives the same bytes."""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import yaml
from django.db import models

from apps.orgs.models import App, Platform
from apps.orgs.overview import STALE_PERIODS
from apps.platforms.manifest.layout import INSTANCE, TOP, Layout, Nested
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import Items, Ref
from apps.platforms.snapshot.columns import KINDS, Kind
from apps.platforms.snapshot.fields import fields_of

Age = tuple[datetime | None, int | None]  # asOf and staleAfter, in seconds


def export(platform: Platform) -> str:
    """The platform's rows as a manifest. What they say of another platform's rows (a connection, say) is left out."""
    return write_manifest(snapshot_of(platform), age_of(platform))


def age_of(platform: Platform) -> Age:
    """Of when the platform's facts are, and for how many seconds they are recent: as a manifest says it of itself.

    What a deployment system told is of its last sync; where nobody syncs again, facts do not age.
    """
    if platform.kind == Platform.Kind.MANIFEST:
        return platform.as_of, platform.stale_after
    period = platform.check_period
    return (None, None) if period is None else (platform.last_sync_at, STALE_PERIODS * period)


def snapshot_of(platform: Platform) -> base.Snapshot:
    """The snapshot that applying would make no difference."""
    keys: dict[str, dict[str, str]] = {collection: {} for collection in base.REFERRED}
    records: dict[str, Any] = {}
    for kind in KINDS:
        told = []
        rows: models.QuerySet[Any] = kind.model._default_manager.filter(platform=platform)
        if kind.model is App:
            rows = rows.filter(hidden_at__isnull=True)
        for row in rows.order_by("pk").iterator():
            if kind.collection in keys:
                keys[kind.collection][row.pk] = row.external_id
            if _owner_is_exported(kind, row, keys):
                told.append(_record(kind, row, keys))
        records[kind.collection] = tuple(told)
    return base.Snapshot(version=platform.version, **records)


def _owner_is_exported(kind: Kind, row: Any, keys: dict[str, dict[str, str]]) -> bool:
    fields = fields_of(base.COLLECTIONS[kind.collection])
    return all(
        getattr(row, f"{name}_id") in keys[field.bound.collection]
        for name, field in fields.items()
        if isinstance(field.bound, Ref) and field.is_required
    )


def _record(kind: Kind, row: Any, keys: dict[str, dict[str, str]]) -> Any:
    type = base.COLLECTIONS[kind.collection]
    values: dict[str, Any] = {}
    for name, field in fields_of(type).items():
        if isinstance(field.bound, Ref):
            values[name] = keys[field.bound.collection].get(getattr(row, f"{name}_id"))
        elif name == "key":
            values[name] = row.external_id
        elif isinstance(field.bound, Items):
            values[name] = _items(type, getattr(row, name))
        else:
            values[name] = getattr(row, name)
    if type is base.Secret and values["environment"] is not None:
        values["project"] = None  # it is that environment's
    if type is base.Deployment and values["preview"] is not None:
        values["is_preview"] = False  # the preview's name says it
    return type(**values)


def _items(type: type, items: Any) -> tuple[Any, ...]:
    if type is base.Template:
        return tuple(items.strip(",").split(",")) if items.strip(",") else ()
    if type is base.Runtime:
        return tuple(_instance(item) for item in items)
    return tuple(items)


def _instance(item: dict[str, Any]) -> base.Instance:
    since = datetime.fromisoformat(item["since"]) if item["since"] is not None else None
    return base.Instance(state=item["state"], since=since, message=item["message"])


def write_manifest(snapshot: base.Snapshot, age: Age = (None, None)) -> str:
    return "".join(lines_of(snapshot, age))


def lines_of(snapshot: base.Snapshot, age: Age) -> Iterator[str]:
    """The manifest, a few lines at a time: only those of one application are ever in memory as YAML's own nodes.

    Entries by key (names by name, deployments the newest first); what has its default value is left out.
    """
    writer = _Writer(snapshot)
    yield _lines({"version": 1})
    as_of, stale_after = age
    if as_of is not None:
        yield _lines({"asOf": as_of} | ({} if stale_after is None else {"staleAfter": stale_after}))
    for key, layout in TOP.items():
        yield from writer.entries(key, layout, _ordered(getattr(snapshot, layout.collection)))


class _Writer:
    def __init__(self, snapshot: base.Snapshot) -> None:
        """Files every record under what it belongs to: the collection, the field that says so, and the owner's key."""
        self.owned: dict[tuple[str, str], dict[str, list[Any]]] = {}
        for collection, type in base.COLLECTIONS.items():
            owners = [name for name, field in fields_of(type).items() if isinstance(field.bound, Ref)]
            for name in owners:
                owned = self.owned[collection, name] = defaultdict(list)
                for record in getattr(snapshot, collection):
                    if (key := getattr(record, name)) is not None:
                        owned[key].append(record)

    def entries(self, key: str, layout: Layout, records: list[Any], indent: int = 0) -> Iterator[str]:
        """A list of entries. Those that have lists themselves are written one after another."""
        if not records:
            return
        if not layout.lists:
            yield _lines({key: [self.entry(layout, record) for record in records]}, indent)
            return
        yield f"{' ' * indent}{key}:\n"
        for record in records:
            if layout is TOP["projects"]:
                yield from self.project(layout, record, indent + 2)
            else:
                yield _lines([self.entry(layout, record)], indent + 2)

    def project(self, layout: Layout, project: base.Project, indent: int) -> Iterator[str]:
        entry: dict[str, Any] = {}
        self.fill(entry, layout, project)
        yield _lines([entry], indent)
        for key, inner in layout.lists.items():
            yield from self.entries(key, inner.layout, _ordered(self.owned_by(project, inner)), indent + 2)

    def owned_by(self, record: Any, inner: Nested) -> list[Any]:
        return self.owned[inner.layout.collection, inner.parent].get(record.key, [])

    def entry(self, layout: Layout, record: Any) -> Any:
        entry: dict[str, Any] = {}
        self.fill(entry, layout, record)
        for inner in layout.beside:
            for beside in self.owned_by(record, inner):
                self.fill(entry, inner.layout, beside)
        for key, inner in layout.lists.items():
            if owned := _ordered(self.owned_by(record, inner)):
                entry[key] = [self.entry(inner.layout, child) for child in owned]
        return entry[layout.short] if layout.short and set(entry) == {layout.short} else entry

    def fill(self, entry: dict[str, Any], layout: Layout, record: Any) -> None:
        known = fields_of(layout.record)
        for leaf, name in layout.fields.items():
            value = getattr(record, name)
            if value == known[name].default and not known[name].is_required:
                continue
            *groups, last = leaf.split(".")
            group = entry
            for part in groups:
                group = group.setdefault(part, {})
            group[last] = _plain(value)


def _lines(data: Any, indent: int = 0) -> str:
    text: str = yaml.dump(
        data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, default_flow_style=False, width=10**9, indent=2
    )
    return re.sub("(?m)^(?=.)", " " * indent, text) if indent else text


def _plain(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return [
        {key: value for key, name in INSTANCE.items() if (value := getattr(item, name)) is not None}
        if isinstance(item, base.Instance)
        else item
        for item in value
    ]


def _ordered(records: Any) -> list[Any]:
    return sorted(records, key=_order)


def _order(record: Any) -> tuple[Any, ...]:
    match record:
        case base.Deployment():
            return -record.created_at.timestamp(), record.key
        case base.Variable() | base.Secret():
            return record.name, record.scope, getattr(record, "environment", None) or "", record.project or ""
    return (record.key,)


class _Dumper(yaml.SafeDumper):
    """Python's own emitter, never the one in C: both are right, but they break lines differently."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def _time(dumper: yaml.SafeDumper, moment: datetime) -> yaml.ScalarNode:
    digits = "milliseconds" if moment.microsecond else "seconds"
    text = f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=digits)}Z"
    return dumper.represent_scalar("tag:yaml.org,2002:timestamp", text)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(datetime, _time)
