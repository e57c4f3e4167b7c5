"""How a manifest is laid out: which key of the file is which field of a record. Read by manifest and by export."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from apps.platforms.snapshot import base
from apps.platforms.snapshot.fields import Field, fields_of


@dataclass(frozen=True)
class Layout:
    """One kind of entry.

    `fields` goes from a place in the entry (dots go into groups, as in source.type) to the record's field. `lists`
    are lists of entries that belong to this one. `beside` are records of their own that are written in this entry.
    An entry that says nothing but its `short` field may be written as that alone.
    """

    collection: str
    fields: Mapping[str, str]
    lists: Mapping[str, "Nested"] = field(default_factory=dict)
    beside: tuple["Nested", ...] = ()
    short: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def record(self) -> type:
        return base.COLLECTIONS[self.collection]

    @cached_property
    def values(self) -> tuple[tuple[str, str, Field], ...]:
        """What `fields` says, each with what the record's field may hold."""
        known = fields_of(self.record)
        return tuple((leaf, name, known[name]) for leaf, name in self.fields.items())

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """All the record's fields as they are where an entry does not speak of them."""
        return {name: field.default for name, field in fields_of(self.record).items()} | dict(self.given)

    @cached_property
    def keys(self) -> dict[str, Any]:
        """The keys of an entry: None for a value or a list of entries, a dict for a group."""
        keys: dict[str, Any] = {}
        for leaf in [*self.fields, *(leaf for inner in self.beside for leaf in inner.layout.fields)]:
            *groups, last = leaf.split(".")
            group = keys
            for name in groups:
                group = group.setdefault(name, {})
            group[last] = None
        return keys | dict.fromkeys(self.lists)


@dataclass(frozen=True)
class Nested:
    """Entries nested in an entry; `parent` is their field for the outer entry's key."""

    layout: Layout
    parent: str


def camel_case(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)


def _same(*names: str) -> dict[str, str]:
    return {camel_case(name): name for name in names}


def _variables(scope: str | None, parent: str) -> Nested:
    names = ("name", "references", "updated_at")
    if scope is None:
        return Nested(Layout("variables", _same("name", "scope", *names[1:]), short="name"), parent)
    return Nested(Layout("variables", _same(*names), short="name", given={"scope": scope}), parent)


EDGE = Layout(
    "edges",
    {
        "edge.checkedAt": "checked_at",
        "edge.reachable": "reachable",
        "edge.httpStatus": "http_status",
        "edge.latencyMs": "latency_ms",
        "edge.dnsStatus": "dns_status",
        "edge.tls.issuer": "tls_issuer",
        "edge.tls.notAfter": "tls_not_after",
        "edge.tls.isValid": "tls_is_valid",
        "edge.error": "error",
    },
)
DOMAIN = Layout(
    "domains",
    _same(
        "key", "host", "path", "https", "port", "certificate_type", "is_enabled", "preview", "created_at",
    ),
    beside=(Nested(EDGE, "domain"),),
)  # fmt: skip
PREVIEW = Layout(
    "previews",
    {
        "key": "key",
        "branch": "branch",
        "pullRequest.number": "pull_request_number",
        "pullRequest.title": "pull_request_title",
        "pullRequest.url": "pull_request_url",
        **_same("url", "status", "upstream_status", "created_at", "expires_at"),
    },
)
DEPLOYMENT = Layout(
    "deployments",
    {
        **_same("key", "title", "status", "upstream_status", "trigger", "preview", "is_preview", "branch", "author"),
        "commit.sha": "commit_sha",
        "commit.message": "commit_message",
        **_same("created_at", "started_at", "finished_at", "error_message", "dashboard_url"),
    },
)
EDGE_STATISTICS = Layout(
    "edge_statistics",
    {
        "health.checkedAt": "checked_at",
        "health.uptime24h": "uptime_24h",
        "health.latencyP50Ms": "latency_p50_ms",
        "health.latencyP95Ms": "latency_p95_ms",
    },
)
RUNTIME = Layout(
    "runtimes",
    {
        "runtime.checkedAt": "checked_at",
        "runtime.desired": "desired_replicas",
        "runtime.running": "running_replicas",
        "runtime.instances": "instances",
    },
)
APP = Layout(
    "apps",
    {
        **_same("key", "name", "slug", "description", "environment", "kind", "status", "upstream_status"),
        "source.type": "source_type",
        **{f"source.{name}": name for name in ("repository", "branch", "image", "connection")},
        **_same("dashboard_url", "names_skipped", "created_at"),
    },
    lists={
        "variables": _variables(None, "app"),
        "domains": Nested(DOMAIN, "app"),
        "previews": Nested(PREVIEW, "app"),
        "deployments": Nested(DEPLOYMENT, "app"),
    },
    beside=(Nested(EDGE_STATISTICS, "app"), Nested(RUNTIME, "app")),
)
ENVIRONMENT = Layout(
    "environments", _same("key", "name", "is_default"), lists={"variables": _variables("environment", "environment")}
)
PROJECT = Layout(
    "projects",
    _same("key", "name", "description", "created_at"),
    lists={
        "environments": Nested(ENVIRONMENT, "project"),
        "variables": _variables("project", "project"),
        "apps": Nested(APP, "project"),
    },
)
CONNECTION = Layout("connections", _same("key", "type", "name", "account_login", "base_url", "credentials"))
SECRET = Layout("secrets", _same("name", "scope", "project", "environment", "provider", "updated_at"), short="name")
TEMPLATE = Layout(
    "templates",
    {
        **_same("key", "name", "description", "version", "tags", "logo_url"),
        "links.github": "github_url",
        "links.website": "website_url",
        "links.docs": "docs_url",
    },
)
TOP = {"connections": CONNECTION, "projects": PROJECT, "secrets": SECRET, "templates": TEMPLATE}
INSTANCE = _same("state", "since", "message")
