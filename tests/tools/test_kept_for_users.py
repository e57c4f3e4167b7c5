"""Answers that are kept, as users see them at both doors: who asks after a write is told it, and nobody another's."""

import json
import random
from collections.abc import Callable
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.utils import timezone

from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EdgeFact,
    EdgeStatistics,
    Environment,
    EnvVarName,
    OrgSecretName,
    Preview,
    Project,
    RuntimeFact,
    Template,
)
from apps.orgs.models.versioned import Versioned
from apps.platforms.edge.rounds import probe_round
from apps.platforms.edge.targets import Outcome
from apps.platforms.snapshot.apply import apply, apply_catalogue
from apps.platforms.snapshot.base import Snapshot
from apps.tools import answers
from apps.tools.registry import TOOLS
from tests.factories import START, Fill, make, make_app
from tests.oauthmcp.grants import make_member
from tests.operators import client_of, list_of, page_of
from tests.platforms.snapshots import rich
from tests.tools.asking import DOORS, Asking
from tests.tools.test_every_tool import ids_of, input_for

KEPT = [name for name, tool in TOOLS.items() if tool.versions]

# Every kind of row, in every way that the ORM has

# By model: which tool tells which column, and what its values begin with.
KINDS: dict[type[Any], tuple[str, str, Any]] = {
    Project: ("list_projects", "external_id", "key-"),
    Environment: ("list_projects", "name", "name-"),
    App: ("list_apps", "upstream_status", "status-"),
    Preview: ("list_previews", "branch", "branch-"),
    Domain: ("list_domains", "path", "/path-"),
    Deployment: ("list_deployments", "title", "title-"),
    EdgeFact: ("get_app_health", "latency_ms", 7_000_000),
    EdgeStatistics: ("get_app_health", "latency_p50_ms", 7_000_000),
    RuntimeFact: ("get_app_health", "desired_replicas", 7_000_000),
    EnvVarName: ("list_env_vars", "name", "NAME_"),
    OrgSecretName: ("list_org_secrets", "provider", "provider-"),
    Template: ("list_templates", "version", "version-"),
}
# Lists tell nothing of these themselves. What becomes another thing through them is among EVENTS.
UNTOLD = {"Organization", "Membership", "Platform", "SourceConnection"}


def saved(row: Any, **values: Any) -> Any:
    for column, value in values.items():
        setattr(row, column, value)
    return row


UPDATES: dict[str, Callable[[Any, dict[str, Any]], object]] = {
    "save": lambda row, values: saved(row, **values).save(),
    "save of a column": lambda row, values: saved(row, **values).save(update_fields=[*values]),
    "update": lambda row, values: type(row).objects.filter(pk=row.pk).update(**values),
    "bulk_update": lambda row, values: type(row).objects.bulk_update([saved(row, **values)], [*values]),
    "update_or_create": lambda row, values: type(row).objects.update_or_create(values, pk=row.pk),
}
REMOVALS: dict[str, Callable[[Any], object]] = {
    "delete": lambda row: row.delete(),
    "delete of a query": lambda row: type(row).objects.filter(pk=row.pk).delete(),
}
CREATIONS: dict[str, Callable[[Any], object]] = {
    "create": lambda row: row.save(force_insert=True),
    "bulk_create": lambda row: type(row).objects.bulk_create([row]),
}


def test_every_kind_of_row_that_has_a_version_is_here() -> None:
    versioned = {model.__name__ for model in apps.get_models() if issubclass(model, Versioned)}
    assert {model.__name__ for model in KINDS} == versioned - UNTOLD


@pytest.mark.parametrize("model", KINDS)
def test_the_next_answer_tells_a_row_as_it_was_written(model: type[Any], acme: Fill) -> None:
    tool, column, begin = KINDS[model]
    asking, inputs = Asking(acme.organization, "ada@example.com"), input_for(tool, acme)
    told_first = 0

    def is_told(value: Any) -> bool:
        """By both doors: now the one is asked first, now the other."""
        nonlocal told_first
        told_first += 1
        one, other = (asking(DOORS[(told_first + n) % 2], tool, inputs) for n in (0, 1))
        assert one == other
        return json.dumps(value) in json.dumps(one)

    def value_of(number: int) -> Any:
        return begin + (str(number) if isinstance(begin, str) else number)

    row = model.objects.get(organization=acme.organization)
    for number, (way, write) in enumerate(UPDATES.items()):
        assert not is_told(value_of(number)), way
        write(row, {column: value_of(number)})
        assert is_told(value_of(number)), way
    for (way, remove), (other_way, create) in zip(REMOVALS.items(), CREATIONS.items(), strict=True):
        row = model.objects.get(pk=row.pk)
        remove(model.objects.get(pk=row.pk))
        assert not is_told(value_of(number)), way
        create(row)
        assert is_told(value_of(number)), other_way


# Whatever else writes


def ask(asking: Asking, acme: Fill) -> dict[str, Any]:
    """What each tool answers, at both doors. Half of the tools are asked at the one first, half at the other."""
    asked = [(name, {"applicationId": acme.app.pk} if name == "get_app_health" else {}) for name in KEPT]
    told = {}
    for number, (name, inputs) in enumerate([*asked, ("list_apps", {"health": "unhealthy"})]):
        one, other = (asking(DOORS[(number + n) % 2], name, inputs) for n in (0, 1))
        assert one == other
        told[f"{number} {name}"] = {field: value for field, value in one.items() if field != "version"}
    return told


def seeing(**fields: Any) -> Any:
    told = {"reachable": True, "http_status": 200, "latency_ms": 20, "dns_status": "resolves"} | fields
    return lambda targets: [Outcome(target.key, **told) for target in targets]


def edit(acme: Fill) -> None:
    user = make_member(acme.organization, "operator@example.com").user
    user.is_staff = user.is_superuser = True
    user.save()
    values = {"name": "In the admin", "description": "New.", "tags": ",", "organization": acme.organization.pk}
    answer = client_of(user).post(page_of(Template.objects.get(name="By hand")), values)
    assert (answer.status_code, answer["Location"]) == (302, list_of(Template))


def sync_manifest(acme: Fill, folder: Path) -> None:
    file = folder / "manifest.yaml"
    file.write_text("version: 1\nprojects:\n- key: web\n  name: Told by a file\n")
    call_command("sync_manifest", "acme", str(file), "--allow-deletions", stdout=StringIO())


EVENTS: dict[str, Callable[[Fill], object]] = {
    "a sync brings rows": lambda acme: apply(acme.platform, rich()),
    "a sync takes rows away": lambda acme: apply(acme.platform, Snapshot(), allow_deletions=True),
    "a manifest grows old": lambda acme: apply(acme.platform, Snapshot(), allow_deletions=True, age=(START, 60)),
    "a catalogue is synced": lambda acme: apply_catalogue(Snapshot(templates=rich().templates)),
    "a template is everybody's": lambda acme: Template.objects.create(name="Ours", description="Ours."),
    "an operator saves a form": edit,
    "a check takes longer": lambda acme: probe_round(timezone.now(), seeing(latency_ms=21)),
    "domains are found down": lambda acme: probe_round(timezone.now(), seeing(http_status=503)),
    "rows are hidden": lambda acme: App.objects.filter(pk=acme.app.pk).update(hidden_at=timezone.now()),
    "much is deleted with a row": lambda acme: acme.project.delete(),
    "its platform is deleted": lambda acme: acme.platform.delete(),
    "a connection is deleted": lambda acme: acme.connection.delete(),
    "rows are found no more by what they were updated by": lambda acme: Domain.objects.filter(
        app=acme.app, https=True
    ).update(https=False),
}


@pytest.mark.parametrize("what", [*EVENTS, "a command reads a file"])
def test_the_next_answer_tells_it_when(what: str, acme: Fill, tmp_path: Path) -> None:
    make(Domain, acme.organization, app=make_app(acme.project, "it"), host="site.example.com", https=True)
    make(Template, acme.organization, name="By hand", description="Old.")
    probe_round(timezone.now(), seeing())
    asking = Asking(acme.organization, "ada@example.com")
    before = ask(asking, acme)
    EVENTS.get(what, lambda acme: sync_manifest(acme, tmp_path))(acme)
    after = ask(asking, acme)
    answers.cache.clear()
    assert after == ask(asking, acme)
    assert after != before


# Nobody is told what is another's


def test_organizations_callers_scopes_tools_and_inputs_share_nothing(acme: Fill, rival: Fill) -> None:
    for fill in (acme, rival):
        make_app(fill.project, "b", status="error")
    users = [
        Asking(acme.organization, "ada@example.com"),
        Asking(acme.organization, "bob@example.com", "apps:read", "account:read"),
        Asking(rival.organization, "eve@example.com"),
    ]
    asked = [
        ("list_apps", {}), ("list_apps", {"query": "b"}), ("list_apps", {"limit": 1}), ("list_projects", {}),
        ("list_org_secrets", {}), ("list_templates", {}), ("get_account", {}),
        *(("get_app_health", {"applicationId": fill.app.pk}) for fill in (acme, rival)),
    ]  # fmt: skip
    calls = [(user, door, tool, inputs) for user, door, (tool, inputs) in product(users, DOORS, asked)]

    def told(number: int) -> str:
        user, *call = calls[number]
        return json.dumps(user(*call), sort_keys=True)

    alone = []
    for number in range(len(calls)):
        answers.cache.clear()
        alone.append(told(number))
    orders = [random.Random(seed).sample(range(len(calls)), len(calls)) for seed in range(2)]
    assert all(told(number) == alone[number] for order in orders for number in order)
    adas, bobs, eves = (alone[start : start + len(asked)] for start in range(0, len(calls), len(DOORS) * len(asked)))
    assert len(set(adas)) == len(asked)
    assert [text for text in adas + bobs if any(id in text for id in ids_of(rival))] == []
    assert [text for text in eves if any(id in text for id in ids_of(acme))] == []
    assert sum("insufficient_scope" in text for text in bobs) == 2
