"""Connecting an organization to a git host: by the command and in the admin, with every type of host."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from apps.net.encryption import decrypt_credential
from apps.orgs.models import SourceConnection
from apps.platforms.snapshot.apply import apply
from apps.platforms.snapshot.base import Snapshot
from apps.sources.git import mirrors
from apps.sources.hosts import github_app
from apps.sources.hosts.credentials import MAX_SECRET
from apps.sources.hosts.minted import MintedTokens
from apps.sources.models import SourceCredentials
from tests.api import Api
from tests.factories import Fill, make, make_app
from tests.fakes.git_hosts import REPOSITORIES, GitHostFake, basic
from tests.fakes.git_remote import GitRemote, redirect
from tests.fakes.github import GitHubFake
from tests.operators import client_of
from tests.sources.conftest import settle
from tests.sources.hosts.conftest import bitbucket_cloud, fake, gitea, github, gitlab

__all__ = ["bitbucket_cloud", "fake", "gitea", "github", "gitlab"]
ADDRESS = "/admin/orgs/sourceconnection"
Files = Callable[[str], str]


@pytest.fixture
def file(tmp_path: Path) -> Files:
    def write(secret: str) -> str:
        path = tmp_path / "secret"
        path.write_text(f"{secret}\n")
        return str(path)

    return write


def connect(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("connect_source", "--org", "acme", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def type_of(fake: GitHostFake) -> str:
    return type(fake).__name__.removesuffix("Fake").lower()


def place(fake: GitHostFake) -> list[str]:
    return ["--type", type_of(fake), *([] if type_of(fake) == "bitbucket" else ["--url", fake.url])]


def test_an_access_token_is_tried_stored_encrypted_and_told_nowhere(
    api: Api, acme: Fill, fake: GitHostFake, file: Files
) -> None:
    out, err = connect(*place(fake), "--token-file", file(fake.token))
    stored = SourceCredentials.objects.get()
    assert decrypt_credential(stored.encrypted_secret) == fake.token
    assert fake.token not in out + err + stored.encrypted_secret + repr(stored) + str(stored)
    connection = stored.connection
    assert (connection.type, connection.own_credentials) == (type_of(fake), "working")
    told = {found["id"]: found for found in api("get_account")["connections"]}
    assert told[connection.id]["accountLogin"] == connection.account_login
    if connection.account_login:
        assert f"as {fake.login}" in out
        assert REPOSITORIES[0] in out


def test_what_the_host_refuses_is_not_stored(acme: Fill, fake: GitHostFake, file: Files) -> None:
    with pytest.raises(CommandError, match="Nothing was stored") as refusal:
        connect(*place(fake), "--token-file", file("another-token"))
    assert "another-token" not in str(refusal.value)
    assert not SourceCredentials.objects.exists()
    assert not SourceConnection.objects.exclude(pk=acme.connection.pk).exists()


def test_a_connection_that_a_platform_told_of_becomes_usable_with_credentials_of_its_own(
    api: Api, acme: Fill, github: GitHubFake, file: Files
) -> None:
    """The platform's next sync leaves them alone, and what the platform says of its own makes nothing usable."""
    theirs = make(
        SourceConnection, acme.organization, type="github", name="Theirs", platform=acme.platform, external_id="gh-1",
        base_url=github.url, credentials="working",
    )  # fmt: skip
    assert theirs.id not in [found["id"] for found in api("get_account")["connections"]]
    connect("--connection", theirs.id, "--token-file", file(github.token), "--default")
    told = {found["id"]: found for found in api("get_account")["connections"]}
    assert told[theirs.id]["isDefault"]
    assert SourceConnection.objects.filter(organization=acme.organization).count() == 2
    SourceConnection.objects.filter(pk=theirs.pk).update(credentials="missing", base_url="https://elsewhere.example")
    assert SourceCredentials.objects.get().base_url == github.url
    apply(acme.platform, Snapshot(), allow_deletions=True)  # which no longer tells of it
    assert SourceCredentials.objects.get().connection.id == theirs.id


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--token-file", "/nowhere", "--type", "github"], "cannot be read"),
        (["--token-file", "FILE"], "--type must say"),
        (["--token-file", "FILE", "--connection", "con_0"], "no such connection"),
        (["--token-file", "FILE", "--type", "git"], "must be given"),
        (["--token-file", "FILE", "--type", "git", "--url", "http://git.example.com"], "https://"),
        (["--token-file", "FILE", "--type", "github", "--url", "https://u:p@git.example.com"], "user name"),
        (["--token-file", "FILE", "--type", "github", "--url", "https://10.0.0.1"], "may not be reached"),
        (["--deploy-token-file", "FILE", "--type", "github", "--username", "x"], "kind of credentials"),
        (["--deploy-token-file", "FILE", "--type", "gitlab"], "user name"),
        (["--private-key-file", "FILE", "--type", "github", "--app-id", "1", "--installation-id", "1"], "key"),
        (["--private-key-file", "FILE", "--type", "github"], "id"),
        (["--token-file", "LARGE", "--type", "github"], "too long"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(
    acme: Fill, file: Files, tmp_path: Path, arguments: list[str], says: str
) -> None:
    (tmp_path / "large").write_text("x" * (MAX_SECRET + 1))
    files = {"FILE": file("hunter2-hunter2"), "LARGE": str(tmp_path / "large")}
    with pytest.raises(CommandError) as refusal:
        connect(*(files.get(argument, argument) for argument in arguments))
    assert says in str(refusal.value)
    assert "hunter2" not in str(refusal.value)
    assert not SourceCredentials.objects.exists()


def form(fake: GitHostFake, **fields: Any) -> dict[str, Any]:
    given = {"organization": "acme", "type": type_of(fake), "base_url": fake.url, "kind": "access_token"}
    return given | {"token": fake.token, "name": "Ours"} | fields


def test_an_operator_connects_and_disconnects_in_the_admin(acme: Fill, github: GitHubFake, operator: Client) -> None:
    assert "Connect a git host" in operator.get(f"{ADDRESS}/").content.decode()
    page = operator.post(f"{ADDRESS}/connect/", form(github), follow=True)
    stored = SourceCredentials.objects.get()
    assert page.redirect_chain == [(f"{ADDRESS}/{stored.pk}/change/", 302)]
    assert f"Connected to {github.url} as {github.login}." in page.content.decode()
    again = operator.post(f"{ADDRESS}/{stored.pk}/credentials/", form(github, kind="github_app", app_id=github.app_id,
        installation_id=github.installation_id, private_key=github.private_key, token=""), follow=True)  # fmt: skip
    stored.refresh_from_db()
    assert stored.kind == "github_app"
    pages = [page, again, operator.get(f"{ADDRESS}/{stored.pk}/change/"), operator.get(f"{ADDRESS}/")]
    pages += [operator.get(f"{ADDRESS}/{stored.pk}/credentials/"), operator.get(f"{ADDRESS}/{stored.pk}/disconnect/")]
    pages += [operator.post(f"{ADDRESS}/connect/", form(github, organization="nobody"))]
    for answer in pages:
        assert answer.status_code == 200
        shown = answer.content.decode()
        assert github.token not in shown
        assert "PRIVATE KEY" not in shown
        assert stored.encrypted_secret not in shown
    assert operator.get(f"{ADDRESS}/{stored.pk}/delete/").status_code == 403
    page = operator.post(f"{ADDRESS}/{stored.pk}/disconnect/", follow=True)
    assert "The credentials are deleted here" in page.content.decode()
    assert not SourceCredentials.objects.exists()
    assert not SourceConnection.objects.filter(pk=stored.pk).exists()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"token": "wrong"}, "Nothing was stored."),
        ({"organization": "nobody"}, "There is no such organization."),
        ({"kind": "deploy_token"}, "This kind of credentials is not for this kind of git host."),
        ({"base_url": "http://git.example.com"}, "https://"),
        ({"token": ""}, "empty"),
    ],
)
def test_what_is_wrong_is_said_in_the_admin(
    acme: Fill, github: GitHubFake, operator: Client, fields: dict[str, Any], says: str
) -> None:
    page = operator.post(f"{ADDRESS}/connect/", form(github, **fields)).content.decode()
    assert says in page
    assert github.token not in page
    assert not SourceCredentials.objects.exists()


def test_only_who_may_connects(acme: Fill, django_user_model: Any) -> None:
    user = django_user_model.objects.create_user("staff@example.com", "a-long-password", is_staff=True)
    client = client_of(user)
    for address in ("connect", f"{acme.connection.pk}/credentials", f"{acme.connection.pk}/disconnect"):
        assert client.get(f"{ADDRESS}/{address}/").status_code == 403
        assert client.post(f"{ADDRESS}/{address}/", {}).status_code == 403


# With git behind it


@pytest.mark.django_db(transaction=True)
def test_an_app_reads_a_private_repository_with_tokens_that_end(
    database_for_many: None, api: Api, acme: Fill, github_remote: tuple[GitRemote, GitHubFake], file: Files
) -> None:
    remote, github = github_remote
    remote.authorization = lambda: {basic("x-access-token", token) for token in github._good}
    remote.origin("acme/app-00").commit({"README.md": "private"})
    host = make(SourceConnection, acme.organization, type="github", name="GHES", base_url=remote.url)
    app = make_app(acme.project, "shop", source_type="github", repository="acme/app-00", branch="main", connection=host)
    out, _ = connect("--type", "github", "--url", remote.url, "--private-key-file", file(github.private_key),
        "--app-id", github.app_id, "--installation-id", github.installation_id)  # fmt: skip
    assert f"Tried with git, and read: {remote.url}/acme/app-00.git." in out
    minted = len(github.minted)
    assert api("get_file", applicationId=app.id, path="README.md")["content"] == "private"
    assert api("get_file", applicationId=app.id, path="README.md", ref="HEAD")["content"] == "private"
    assert len(github.minted) == minted  # it is kept while it is good
    github.revoke()
    api.refused("get_file", applicationId=app.id, path="README.md", ref="refs/heads/new")
    settle()
    mirrors._failures.forget()
    remote.folder.joinpath("acme/app-00.git/refs/heads/next").write_bytes(
        remote.folder.joinpath("acme/app-00.git/refs/heads/main").read_bytes()
    )
    assert api("get_file", applicationId=app.id, path="README.md", ref="next")["content"] == "private"
    assert len(github.minted) == minted + 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("failure", "is_refused"),
    [("unauthorized", True), ("forbidden", True), ("unprocessable", True), ("gone", True), ("error", False)],
)
def test_an_app_that_github_refuses_is_told_from_a_github_that_is_down(
    database_for_many: None, api: Api, acme: Fill, github_remote: tuple[GitRemote, GitHubFake], file: Files,
    failure: str, is_refused: bool,
) -> None:  # fmt: skip
    remote, github = github_remote
    connect("--type", "github", "--url", remote.url, "--private-key-file", file(github.private_key),
        "--app-id", github.app_id, "--installation-id", github.installation_id)  # fmt: skip
    github.fail(f"/app/installations/{github.installation_id}/access_tokens", failure)
    github_app.tokens = MintedTokens()
    app = make_app(acme.project, "shop", source_type="git", repository=f"{remote.url}/acme/app-00.git", branch="main")
    if is_refused:
        told = api.refused("get_file", applicationId=app.id, path="README.md")
        assert told == [("applicationId", "no_repository")]
    else:
        api.refused("get_file", status=503, applicationId=app.id, path="README.md")
    settle()
    state = SourceConnection.objects.get(stored_credentials__isnull=False).own_credentials
    assert state == ("refused" if is_refused else "working")


@pytest.mark.django_db(transaction=True)
def test_a_repository_that_was_renamed_is_followed_within_its_host(
    database_for_many: None, api: Api, acme: Fill, github_remote: tuple[GitRemote, GitHubFake], file: Files
) -> None:
    remote, github = github_remote
    origin = remote.origin("acme/app-00")
    origin.commit({"README.md": "moved"})
    github.renamed["acme/old"] = "acme/app-00"
    remote.behaviour["acme/old"] = redirect(f"{remote.url}/acme/app-00.git/info/refs?service=git-upload-pack")
    host = make(SourceConnection, acme.organization, type="github", name="GHES", base_url=remote.url)
    app = make_app(acme.project, "shop", source_type="github", repository="acme/old", branch="main", connection=host)
    connect("--connection", host.id, "--token-file", file(github.token))
    assert api("get_file", applicationId=app.id, path="README.md")["content"] == "moved"
    asked = len([path for path, _ in remote.sent if path.startswith(("/api/v3/repos/", "/acme/old"))])
    origin.commit({"README.md": "next"}, branch="next")
    assert api("get_file", applicationId=app.id, path="README.md", ref="next")["content"] == "next"
    assert len([path for path, _ in remote.sent if path.startswith(("/api/v3/repos/", "/acme/old"))]) == asked
    unknown = make_app(acme.project, "lost", source_type="github", repository="acme/lost", connection=host)
    remote.behaviour["acme/lost"] = redirect(f"{remote.url}/acme/app-00.git/info/refs?service=git-upload-pack")
    api.refused("get_file", status=503, applicationId=unknown.id, path="README.md")
