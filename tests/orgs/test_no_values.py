"""No value of a variable or a secret is ever stored: no column is meant for one, and none gets in."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, models

from apps.orgs.models import App, Organization
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply
from apps.platforms.snapshot.check import SnapshotError
from tests.platforms.snapshots import manifest_platform, rich

OURS = ("orgs", "oauthmcp", "tools", "platforms", "sources", "jobs")
# What cannot hold text. Any other kind of column, known to us or not, must be on the list below.
NO_TEXT = (
    models.BooleanField,
    models.IntegerField,
    models.FloatField,
    models.DateField,  # and DateTimeField
    models.ForeignKey,  # its text is another row's id
    models.AutoField,
)
AN_ID = "an opaque id, made by us"
THEIR_ID = "the platform's own id"
SORTED = "the name, folded"
SEARCHED = "names and descriptions, folded"
WORD = "one of a few words"
TITLE = "what people call it"
WHERE = "a public address; one with a user name is refused"
WRITTEN = "what people wrote about it"
SCOPES = "names of scopes"
HASHED = "a SHA-256; the random text itself is nowhere"
NEVER_FILLED = "a column of django-oauth-toolkit that stays empty here"
DOOR = "our own public address"
# Every column that can hold text, and why it is there. A new one needs a reason, and the reason is never a value.
ALLOWED = {
    "orgs.EdgeHour.checks": "times and latencies, packed",
    "platforms.PlatformConnection.base_url": WHERE,
    "platforms.PlatformConnection.encrypted_key": "the key that Porthole itself needs, encrypted",
    "platforms.PlatformConnection.organization_key": THEIR_ID,
    "platforms.PlatformConnection.organization_name": TITLE,
    "platforms.PlatformConnection.role": WORD,
    "platforms.PlatformConnection.detail_cursor": THEIR_ID,
    "platforms.PlatformConnection.progress": "a sentence of ours",
    "platforms.PlatformConnection.last_error": "a sentence of ours, in which nothing is that was received",
    "platforms.PlatformConnection.last_counts": "numbers by kind of row",
    "platforms.PlatformConnection.deletions_to_confirm": "numbers, and names of applications",
    "sources.SourceCredentials.kind": WORD,
    "sources.SourceCredentials.base_url": WHERE,
    "sources.SourceCredentials.username": "whose token it is, as the operator typed it",
    "sources.SourceCredentials.app_id": THEIR_ID,
    "sources.SourceCredentials.installation_id": THEIR_ID,
    "sources.SourceCredentials.encrypted_secret": "what Porthole itself reads repositories with, encrypted",
    "orgs.SourceConnection.own_credentials": WORD,
    "jobs.Schedule.name": WORD,
    "jobs.Schedule.task": "where a function of ours is",
    "jobs.Schedule.arguments": "ids",
    "jobs.Schedule.data_dir": AN_ID,
    "jobs.Schedule.lease": AN_ID,
    "orgs.User.email": "what somebody signs in with",
    "orgs.User.password": "a salted hash of the password that opens Porthole itself",
    "orgs.User.name": TITLE,
    "orgs.Organization.id": AN_ID,
    "orgs.Organization.name": TITLE,
    "orgs.Organization.slug": TITLE,
    "orgs.Organization.plan": TITLE,
    "orgs.Membership.role": WORD,
    "orgs.Invitation.email": "whom an operator invited",
    "orgs.Invitation.role": WORD,
    "orgs.Invitation.token_hash": "the SHA-256 of the token in a link, which is nowhere else but in the mail",
    "orgs.Platform.kind": WORD,
    "orgs.Platform.name": TITLE,
    "orgs.Platform.version": "the platform's own version",
    "orgs.Platform.last_sync_status": WORD,
    "orgs.SourceConnection.id": AN_ID,
    "orgs.SourceConnection.external_id": THEIR_ID,
    "orgs.SourceConnection.type": WORD,
    "orgs.SourceConnection.name": TITLE,
    "orgs.SourceConnection.sort_key": SORTED,
    "orgs.SourceConnection.account_login": "the account's name at the git host",
    "orgs.SourceConnection.base_url": WHERE,
    "orgs.SourceConnection.credentials": "whether there are any, in one word",
    "orgs.Project.id": AN_ID,
    "orgs.Project.external_id": THEIR_ID,
    "orgs.Project.name": TITLE,
    "orgs.Project.description": WRITTEN,
    "orgs.Project.sort_key": SORTED,
    "orgs.Project.search_key": SEARCHED,
    "orgs.Organization.search_key": SEARCHED,
    "orgs.OrganizationCounts.apps": "numbers by status",
    "orgs.OrganizationCounts.deployments": "numbers by hour",
    "orgs.Deployment.search_key": SEARCHED,
    "orgs.Environment.id": AN_ID,
    "orgs.Environment.external_id": THEIR_ID,
    "orgs.Environment.name": TITLE,
    "orgs.Environment.sort_key": SORTED,
    "orgs.App.id": AN_ID,
    "orgs.App.external_id": THEIR_ID,
    "orgs.App.name": TITLE,
    "orgs.App.slug": TITLE,
    "orgs.App.description": WRITTEN,
    "orgs.App.sort_key": SORTED,
    "orgs.App.search_key": SEARCHED,
    "orgs.App.kind": WORD,
    "orgs.App.status": WORD,
    "orgs.App.upstream_status": "the platform's own word",
    "orgs.App.source_type": WORD,
    "orgs.App.repository": WHERE,
    "orgs.App.branch": "the name of a branch",
    "orgs.App.image": "the name of an image",
    "orgs.App.primary_url": WHERE,
    "orgs.App.dashboard_url": WHERE,
    "orgs.Preview.id": AN_ID,
    "orgs.Preview.external_id": THEIR_ID,
    "orgs.Preview.pull_request_title": WRITTEN,
    "orgs.Preview.pull_request_url": WHERE,
    "orgs.Preview.branch": "the name of a branch",
    "orgs.Preview.url": WHERE,
    "orgs.Preview.status": WORD,
    "orgs.Preview.upstream_status": "the platform's own word",
    "orgs.Domain.id": AN_ID,
    "orgs.Domain.external_id": THEIR_ID,
    "orgs.Domain.host": WHERE,
    "orgs.Domain.path": WHERE,
    "orgs.Domain.certificate_type": WORD,
    "orgs.Deployment.id": AN_ID,
    "orgs.Deployment.external_id": THEIR_ID,
    "orgs.Deployment.status": WORD,
    "orgs.Deployment.upstream_status": "the platform's own word",
    "orgs.Deployment.title": WRITTEN,
    "orgs.Deployment.commit_sha": "the id of a commit",
    "orgs.Deployment.commit_message": WRITTEN,
    "orgs.Deployment.branch": "the name of a branch",
    "orgs.Deployment.author": WRITTEN,
    "orgs.Deployment.trigger": WORD,
    "orgs.Deployment.dashboard_url": WHERE,
    "orgs.Deployment.error_message": "why it failed, cut to 300 characters, addresses without their user names",
    "orgs.EdgeFact.dns_status": WORD,
    "orgs.EdgeFact.tls_issuer": "who signed a public certificate",
    "orgs.EdgeFact.error": "what the prober says",
    "orgs.RuntimeFact.instances": "states, times and messages of running instances",
    "orgs.EnvVarName.id": AN_ID,
    "orgs.EnvVarName.name": "the name, of the form of names",
    "orgs.EnvVarName.sort_key": SORTED,
    "orgs.EnvVarName.scope": WORD,
    "orgs.EnvVarName.references": "names that a value refers to, of the form of names",
    "orgs.OrgSecretName.id": AN_ID,
    "orgs.OrgSecretName.name": "the name, of the form of names",
    "orgs.OrgSecretName.sort_key": SORTED,
    "orgs.OrgSecretName.scope": WORD,
    "orgs.OrgSecretName.provider": "the name of the vault",
    "orgs.Template.id": AN_ID,
    "orgs.Template.external_id": THEIR_ID,
    "orgs.Template.name": TITLE,
    "orgs.Template.description": WRITTEN,
    "orgs.HealthTimetable.holds": WORD,
    **{f"orgs.HealthTimetable.level_{step}": WORD for step in (1, 2, 3, 4)},
    **{f"orgs.HealthTimetable.reason_{step}": "a sentence of ours about hosts and counts" for step in (1, 2, 3, 4)},
    "orgs.Template.sort_key": SORTED,
    "orgs.Template.search_key": SEARCHED,
    "orgs.Template.version": "the template's version",
    "orgs.Template.tags": "short words",
    "orgs.Template.logo_url": WHERE,
    "orgs.Template.github_url": WHERE,
    "orgs.Template.website_url": WHERE,
    "orgs.Template.docs_url": WHERE,
    "oauthmcp.Application.client_id": "a public id, made by us",
    "oauthmcp.Application.client_secret": HASHED,
    "oauthmcp.Application.name": "what the client calls itself",
    "oauthmcp.Application.search_key": SEARCHED,
    "oauthmcp.Application.redirect_uris": WHERE,
    "oauthmcp.Application.metadata": "what the client says of itself, each member bounded: client_metadata.py",
    "oauthmcp.Application.client_type": WORD,
    "oauthmcp.Application.authorization_grant_type": WORD,
    "oauthmcp.Application.registration_source": WORD,
    "oauthmcp.Application.token_endpoint_auth_method": WORD,
    "oauthmcp.Application.registrant_address": HASHED,
    "oauthmcp.Application.registrant_network": HASHED,
    "oauthmcp.Application.algorithm": NEVER_FILLED,
    "oauthmcp.Application.allowed_origins": NEVER_FILLED,
    "oauthmcp.Application.post_logout_redirect_uris": NEVER_FILLED,
    "oauthmcp.Authorization.id": AN_ID,
    "oauthmcp.Authorization.redirect_uri": WHERE,
    "oauthmcp.Authorization.scope": SCOPES,
    "oauthmcp.ScriptToken.name": "what its owner calls it",
    "oauthmcp.ScriptToken.ended_by": WORD,
    "oauthmcp.Grant.code": HASHED,
    "oauthmcp.Grant.code_challenge": "the client's SHA-256 of what it keeps to itself",
    "oauthmcp.Grant.code_challenge_method": WORD,
    "oauthmcp.Grant.redirect_uri": WHERE,
    "oauthmcp.Grant.resource": DOOR,
    "oauthmcp.Grant.scope": SCOPES,
    "oauthmcp.Grant.claims": NEVER_FILLED,
    "oauthmcp.Grant.nonce": NEVER_FILLED,
    "oauthmcp.AccessToken.token": NEVER_FILLED,
    "oauthmcp.AccessToken.token_checksum": HASHED,
    "oauthmcp.AccessToken.resource": DOOR,
    "oauthmcp.AccessToken.scope": SCOPES,
    "oauthmcp.RefreshToken.token": NEVER_FILLED,
    "oauthmcp.RefreshToken.token_checksum": HASHED,
    "oauthmcp.RefreshToken.resource": DOOR,
    "oauthmcp.IDToken.jti": "of a table without rows",
    "oauthmcp.IDToken.scope": "of a table without rows",
}
MARKER = "hunter2Marker"


def text_columns() -> Iterator[str]:
    for model in apps.get_models(include_auto_created=True):
        if model._meta.app_label in OURS:
            for column in model._meta.concrete_fields:
                if not isinstance(column, NO_TEXT):
                    yield f"{model._meta.label}.{column.name}"


def test_every_column_that_can_hold_text_is_there_for_a_reason() -> None:
    found = set(text_columns())
    assert found - set(ALLOWED) == set(), "columns without a reason"
    assert set(ALLOWED) - found == set(), "reasons without a column"


def everything_stored() -> str:
    """Every cell of every table."""
    with connection.cursor() as cursor:
        cells = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            cells += [str(cell) for row in cursor.fetchall() for cell in row]
    return "\n".join(cells)


def with_first(snapshot: base.Snapshot, collection: str, **fields: Any) -> base.Snapshot:
    first, *rest = getattr(snapshot, collection)
    return replace(snapshot, **{collection: (replace(first, **fields), *rest)})


SLOPPY = [
    ("variables", {"name": f"DATABASE_URL={MARKER}"}),
    ("variables", {"name": f"postgres://me:{MARKER}@db/x"}),
    ("variables", {"name": f'"{MARKER}"'}),
    ("variables", {"name": f"{MARKER}LongAndMixed1234567"}),
    ("variables", {"references": (f"{MARKER}:{MARKER}",)}),
    ("variables", {"references": (f"project.{MARKER}LongAndMixed1234567",)}),
    ("secrets", {"name": f"TOKEN: {MARKER}"}),
    ("secrets", {"name": f"ghp_{MARKER}{'x' * 30}"}),
    ("connections", {"base_url": f"https://me:{MARKER}@git.example.com"}),
    ("connections", {"credentials": MARKER}),
    ("apps", {"repository": f"https://me:{MARKER}@git.example.com/x"}),
    ("apps", {"repository": f"me:{MARKER}@acme/web"}),
    ("apps", {"source_type": "git", "repository": f"https://git.example.com/x?token={MARKER}"}),
    ("apps", {"description": f"use postgres://me:{MARKER}@db/x"}),
    ("apps", {"status": MARKER}),
    ("previews", {"url": f"https://me:{MARKER}@pr.example.com/"}),
    ("previews", {"pull_request_url": f"https://{MARKER}@git.example.com/1"}),
    ("domains", {"host": f"me:{MARKER}@web.example.com"}),
    ("deployments", {"error_message": f"could not read https://x:{MARKER}@git.example.com"}),
    ("deployments", {"commit_sha": MARKER}),
    ("templates", {"logo_url": f"https://me:{MARKER}@example.com/logo.png"}),
    ("templates", {"tags": (MARKER,)}),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("collection", "fields"), SLOPPY)
def test_a_sloppy_source_cannot_get_a_value_in(collection: str, fields: dict[str, Any]) -> None:
    platform = manifest_platform()
    with pytest.raises(SnapshotError) as raised:
        apply(platform, with_first(rich(), collection, **fields))
    assert MARKER not in str(raised.value)
    assert MARKER not in everything_stored()
    assert not App.objects.exists()


@pytest.mark.django_db
def test_the_scan_would_find_a_value() -> None:
    apply(manifest_platform(), with_first(rich(), "projects", name=MARKER))
    assert MARKER in everything_stored()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "variables",
    [
        f"[DATABASE_URL={MARKER}]",
        f"[DATABASE_URL: {MARKER}]",
        f"{{DATABASE_URL: {MARKER}}}",
        f"[{{name: DATABASE_URL, value: {MARKER}}}]",
        f"[{{name: DATABASE_URL, references: {MARKER}}}]",
        f"DATABASE_URL={MARKER}",
    ],
)
def test_a_sloppy_manifest_cannot_get_a_value_in(
    variables: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Organization.objects.create(slug="acme", name="Acme")
    file = tmp_path / "acme.yaml"
    file.write_text(f"version: 1\nprojects: [{{key: p, name: P, variables: {variables}}}]\n")
    with pytest.raises(CommandError, match=r"values are never stored|must be a list") as raised:
        call_command("sync_manifest", "acme", str(file))
    assert MARKER not in str(raised.value) + "".join(capsys.readouterr())
    assert MARKER not in everything_stored()
