"""Real git against a real web server over TLS: whose credentials go where, and servers that behave badly."""

import json
import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from apps.net import outbound
from apps.net.encryption import encrypt_credential
from apps.orgs.models import App, SourceConnection
from apps.sources.connecting import disconnect
from apps.sources.git import fetch, mirrors, upstream
from apps.sources.git.fetch import BLOB_LIMIT
from apps.sources.git.mirrors import Mirror
from apps.sources.models import SourceCredentials
from tests.api import Api
from tests.factories import START, Fill, make, make_app
from tests.fakes import certificates
from tests.fakes.git_hosts import basic
from tests.fakes.git_remote import GitRemote, hang, redirect, stream
from tests.patience import patience
from tests.sources.conftest import clear_caches, settle

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("database_for_many")]
SECRET = "canary-of-the-token-0123456789abcdef"


def shop(acme: Fill, remote: GitRemote, name: str = "acme/shop") -> App:
    """An application that a platform builds from the host, by its address."""
    return make_app(acme.project, name, source_type="git", repository=f"{remote.url}/{name}.git", branch="main")


def connect(fill: Fill, remote: GitRemote, secret: str = SECRET, **columns: Any) -> SourceConnection:
    """What `connecting.store` writes."""
    connection = make(
        SourceConnection, fill.organization, type="git", name="own", base_url=remote.url, credentials="missing",
        own_credentials="working",
    )  # fmt: skip
    given = {"kind": "basic", "username": "reader"} | columns
    SourceCredentials.objects.create(
        connection=connection, base_url=remote.url, encrypted_secret=encrypt_credential(secret), checked_at=START,
        **given,
    )  # fmt: skip
    return connection


def read(api: Api, app: App, path: str = "README.md") -> Any:
    return api("get_file", applicationId=app.id, path=path)["content"]


def refusals(api: Api, app: App) -> list[str]:
    mirrors._failures.forget()
    return [type for _, type in api.refused("get_file", applicationId=app.id, path="README.md")]


def state(connection: SourceConnection) -> str:
    connection.refresh_from_db()
    return connection.own_credentials


@pytest.mark.parametrize(
    ("columns", "authorization"),
    [
        ({"kind": "basic", "username": "reader"}, basic("reader", SECRET)),
        ({"kind": "access_token", "username": None}, f"Bearer {SECRET}"),
    ],
)
def test_a_private_repository_is_read_with_an_operators_credentials(
    api: Api, acme: Fill, remote: GitRemote, columns: dict[str, Any], authorization: str
) -> None:
    remote.origin("acme/shop").commit({"README.md": "private"})
    remote.authorization = authorization
    app = shop(acme, remote)
    assert refusals(api, app) == ["no_repository"]
    connection = connect(acme, remote, **columns)
    mirrors._failures.forget()
    assert read(api, app) == "private"
    assert {sent for _, sent in remote.sent[-2:]} == {authorization}
    assert state(connection) == "working"


def test_credentials_that_the_host_refuses_are_not_told_as_usable_until_it_takes_them_again(
    api: Api, acme: Fill, remote: GitRemote
) -> None:
    remote.origin("acme/shop").commit({"README.md": "private"})
    remote.authorization = basic("reader", SECRET)
    app, connection = shop(acme, remote), connect(acme, remote, "another")
    usable = {found["id"] for found in api("get_account")["connections"]}
    assert connection.id in usable
    assert refusals(api, app) == ["no_repository"]
    assert state(connection) == "refused"
    assert {found["id"] for found in api("get_account")["connections"]} == usable - {connection.id}
    remote.authorization = basic("reader", "another")
    mirrors._failures.forget()
    assert read(api, app) == "private"
    assert state(connection) == "working"


def test_credentials_go_to_the_host_that_they_were_given_for_and_nowhere_else(
    api: Api, acme: Fill, rival: Fill, remote: GitRemote, tmp_path: Path
) -> None:
    """Not to another port, though a platform's row names the connection, nor for another organization."""
    remote.origin("acme/shop").commit({"README.md": "private"})
    remote.authorization = basic("reader", SECRET)
    connection = connect(acme, remote)
    with GitRemote(tmp_path / "elsewhere", certificates.context("localhost")) as elsewhere:
        elsewhere.origin("acme/shop").commit({"README.md": "public"})
        app = shop(acme, elsewhere)
        App.objects.filter(pk=app.pk).update(connection=connection)
        assert read(api, app) == "public"
        assert {sent for _, sent in elsewhere.sent} == {None}
        # The platform tells another address of the connection: what was given for the first stays there.
        SourceConnection.objects.filter(pk=connection.pk).update(base_url=elsewhere.url, type="gitea")
        other = make_app(acme.project, "other", source_type="gitea", repository="acme/shop", connection=connection)
        assert read(api, other) == "public"
        assert {sent for _, sent in elsewhere.sent} == {None}
        elsewhere.behaviour["acme/away"] = redirect(f"{remote.url}/acme/shop.git/info/refs?service=git-upload-pack")
        assert api.refused("get_file", status=503, applicationId=shop(acme, elsewhere, "acme/away").id, path="a")
    SourceCredentials.objects.filter(pk=connection.pk).update(
        connection=make(SourceConnection, rival.organization, type="git", name="rival's")
    )
    assert refusals(api, shop(acme, remote)) == ["no_repository"]
    assert remote.sent[-1][1] is None


def test_a_certificate_of_nobody_that_is_believed_is_no_reason_to_send_anything(
    api: Api, acme: Fill, remote: GitRemote, settings: Any
) -> None:
    remote.origin("acme/shop").commit({"README.md": "private"})
    connect(acme, remote)
    settings.EXTRA_CA_CERTS = ""
    clear_caches()
    api.refused("get_file", status=503, applicationId=shop(acme, remote).id, path="README.md")
    assert remote.sent == []


def test_a_private_network_that_nobody_opened_is_not_reached(
    api: Api, acme: Fill, remote: GitRemote, settings: Any
) -> None:
    settings.SOURCE_NETWORKS = []
    remote.origin("acme/shop").commit({"README.md": "private"})
    api.refused("get_file", status=503, applicationId=shop(acme, remote).id, path="README.md")
    assert remote.sent == []


def test_a_server_that_knows_no_filter_sends_all_and_what_is_too_large_is_told_so(
    api: Api, acme: Fill, remote: GitRemote
) -> None:
    origin = remote.origin("acme/shop")
    origin.repository.config["uploadpack.allowFilter"] = False
    origin.commit({"README.md": "small", "large": os.urandom(BLOB_LIMIT + 1)})
    app = shop(acme, remote)
    assert read(api, app) == "small"
    sizes = {item["name"]: item["size"] for item in api("list_files", applicationId=app.id)["items"]}
    assert sizes == {"README.md": 5, "large": BLOB_LIMIT + 1}
    assert api.refused("get_file", applicationId=app.id, path="large") == [("path", "too_large")]


@pytest.mark.parametrize("behave", [hang, stream])
def test_a_server_that_hangs_or_never_ends_is_given_up(
    api: Api, acme: Fill, remote: GitRemote, monkeypatch: pytest.MonkeyPatch, behave: Any
) -> None:
    monkeypatch.setattr(mirrors, "FIRST_WAIT", 1.0)
    monkeypatch.setattr(upstream, "FETCH_LIMIT", 2.0)
    remote.behaviour["acme/shop"] = behave
    began = time.monotonic()
    api.refused("get_file", status=503, applicationId=shop(acme, remote).id, path="README.md")
    assert time.monotonic() - began < patience(2)
    settle()
    assert not list(mirrors.settings.DATA_DIR.glob("mirrors/*/new-*"))


def test_an_address_that_changes_after_it_was_checked_is_not_used(
    api: Api, acme: Fill, remote: GitRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name means something public when it is checked; git is told that address, and asks nobody."""
    public = {"resolve": lambda *_, **__: [(0, 0, 0, "", ("192.88.99.77", 443))]}
    monkeypatch.setattr(outbound, "is_reachable", lambda *_: True)
    monkeypatch.setattr(
        "apps.sources.git.remotes.resolve_allowed", lambda to, **_: outbound.resolve_allowed(to, **public)
    )
    monkeypatch.setattr(mirrors, "FIRST_WAIT", 1.0)
    monkeypatch.setattr(upstream, "FETCH_LIMIT", 1.0)
    api.refused("get_file", status=503, applicationId=shop(acme, remote).id, path="README.md")
    settle()
    assert remote.sent == []


def test_while_git_fetches_only_git_itself_has_the_credentials(
    api: Api, acme: Fill, remote: GitRemote, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's command line, no other process's environment, no file, log, exception or answer has them."""
    caplog.set_level(logging.DEBUG)
    remote.origin("acme/shop").commit({"README.md": "private"})
    remote.authorization = basic("reader", SECRET)
    sent = {SECRET.encode(), remote.authorization.split()[1].encode()}
    seen, is_seen = {}, threading.Event()

    def look_and_go_on(handler: Any) -> None:
        seen.update(processes_with(sent))
        is_seen.set()
        handler._git()

    remote.behaviour["acme/shop"] = look_and_go_on
    connect(acme, remote)
    app = shop(acme, remote)
    answer = api("get_file", applicationId=app.id, path="README.md")
    assert is_seen.is_set()
    assert {name for name, _ in seen.values()} <= {"git", "git-remote-http", "sh"}
    assert {where for _, where in seen.values()} == {"environ"}
    remote.behaviour["acme/shop"] = lambda handler: handler.answer(401, {"WWW-Authenticate": 'Basic realm="git"'})
    mirrors._failures.forget()
    refused = shop(acme, remote, "acme/other")
    remote.behaviour["acme/other"] = remote.behaviour["acme/shop"]
    assert [type for _, type in api.refused("get_file", applicationId=refused.id, path="a")] == ["no_repository"]
    told = "".join([json.dumps(answer), caplog.text]).encode()
    assert not any(secret in told for secret in sent)
    assert files_with(sent, mirrors.settings.DATA_DIR) == []


def processes_with(secrets: set[bytes]) -> dict[int, tuple[str, str]]:
    """Of all processes but this one, in whose command line or environment one of them is: its name, and where."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            for where in ("cmdline", "environ"):
                try:
                    held, name = (folder / where).read_bytes(), (folder / "comm").read_text().strip()
                except OSError:
                    continue
                if any(secret in held for secret in secrets):
                    found[int(folder.name)] = name, where
    return found


def files_with(secrets: set[bytes], folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".sqlite3" and any(secret in path.read_bytes() for secret in secrets)
    ]


def test_what_would_be_logged_of_a_fetch_has_no_credentials() -> None:
    remote = fetch.Remote("https://git.example.com/a.git", None, authorization=f"Bearer {SECRET}", proxy=SECRET)
    command = fetch.fetch_command(remote, "HEAD", "refs/mirror/a", path="/usr/bin")
    assert SECRET not in repr(remote) + repr(command) + " ".join(command.argv)
    assert f"Authorization: Bearer {SECRET}" in command.env.values()
    assert "http.https://git.example.com/.extraHeader" in command.env.values()


def test_disconnecting_removes_what_was_fetched(api: Api, acme: Fill, remote: GitRemote) -> None:
    remote.origin("acme/shop").commit({"README.md": "private"})
    remote.authorization = basic("reader", SECRET)
    connection, app = connect(acme, remote), shop(acme, remote)
    assert read(api, app) == "private"
    settle()
    disconnect(connection)
    assert not Mirror(f"{remote.url}/acme/shop.git", f"{acme.organization.id}:").folder.exists()
    assert not SourceConnection.objects.filter(pk=connection.pk).exists()
    assert refusals(api, app) == ["no_repository"]
