"""`manage.py setup`: what it asks, what it makes, and that it changes nothing that is there."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from apps.net.encryption import decrypt_credential
from apps.orgs.models import App, Membership, Organization, User
from apps.platforms.models import PlatformConnection
from config.management import prepare
from tests.config.server import run
from tests.platforms.memory import KEY, Memory, MemoryConnector

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
URL = "https://deploy.example.com"
MANIFEST = "version: 1\nprojects: [{key: p, name: P, apps: [{key: a, name: App, source: {type: upload}}]}]\n"


@pytest.fixture(autouse=True)
def files_are_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "collect_static_files", lambda: False)


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    (tmp_path / "acme.yaml").write_text(MANIFEST)
    return str(tmp_path / "acme.yaml")


@pytest.fixture
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    memory = Memory.of(3)

    def connect(base_url: str, key: str) -> MemoryConnector:
        assert (base_url, key) == (URL, KEY)
        return memory.connector

    monkeypatch.setattr("apps.platforms.connectors.DokployConnector", connect)
    (tmp_path / "key").write_text(f"{KEY}\n")
    return str(tmp_path / "key")


def setup(*flags: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("setup", *flags, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTHOLE_OPERATOR_PASSWORD", PASSWORD)


Answers = Callable[..., None]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Somebody at a terminal, who says these, one after the other, and is asked nothing more."""

    def say(*lines: str) -> None:
        terminal, left = io.StringIO(), iter(lines)
        terminal.isatty = lambda: True  # type: ignore[method-assign]
        monkeypatch.setattr("sys.stdin", terminal)
        monkeypatch.setattr("builtins.input", lambda question: next(left))
        monkeypatch.setattr("config.management.plan.getpass", lambda question: next(left))
        monkeypatch.setattr("apps.accounts.management.commands.create_operator.getpass", lambda question: next(left))

    return say


def state() -> tuple[Any, ...]:
    return (
        list(User.objects.values_list("email", "password", "is_superuser")),
        list(Organization.objects.values_list("slug", "name")),
        list(Membership.objects.values_list("user__email", "organization__slug", "role")),
        list(PlatformConnection.objects.values_list("base_url", "encrypted_key")),
        list(App.objects.values_list("name", flat=True)),
    )


def test_flags_make_an_operator_who_belongs_to_an_organization_that_has_applications(
    given: None, manifest: str
) -> None:
    said = setup("--operator", "Ops@Example.com", "--organization", "acme-inc", "--manifest", manifest)
    users, organizations, memberships, _connections, apps = state()
    assert [(email, is_superuser) for email, _, is_superuser in users] == [("ops@example.com", True)]
    assert (organizations, apps) == ([("acme-inc", "Acme Inc")], ["App"])
    assert memberships == [("ops@example.com", "acme-inc", "owner")]
    assert "Porthole is set up" in said
    for path in ("/account/", "/account/tokens/", "/admin/", "/mcp"):
        assert f"http://localhost:8000{path}" in said.split()


def test_running_it_again_changes_nothing_and_says_what_was_there(given: None, manifest: str) -> None:
    flags = ("--operator", "ops@example.com", "--organization", "acme", "--name", "Acme", "--manifest", manifest)
    setup(*flags)
    Membership.objects.update(role="member")
    before = state()
    said = setup(*flags, "--name", "Another")
    assert state() == before
    assert "Operator: ops@example.com is one." in said
    assert "Organization: acme is there, as Acme." in said
    assert "Membership: ops@example.com is member of acme." in said
    assert "nothing had changed" in said


def test_a_platform_is_connected_once_and_its_key_left_alone(given: None, key_file: str) -> None:
    flags = ("--operator", "ops@example.com", "--organization", "acme", "--dokploy", f"{URL}/", "--key-file", key_file)
    said = setup(*flags)
    assert decrypt_credential(PlatformConnection.objects.get().encrypted_key) == KEY
    assert "3 of 3 applications read" in said
    assert KEY not in said
    before = state()
    assert f"Connection: acme reads {URL}. Its key was left as it is." in setup(*flags)
    assert state() == before


def test_somebody_at_a_terminal_is_asked(answers: Answers, key_file: str) -> None:
    answers(
        "nobody", "ops@build.example.com",  # no address, and one
        "Not OK", "", "",  # no slug; then what is suggested, which follows from the address
        "heroku", "dokploy", "deploy.example.com", URL, f" {KEY} ",
        "short", "short", PASSWORD, PASSWORD,
    )  # fmt: skip
    said = setup()
    users, organizations, memberships, connections, _apps = state()
    assert (users[0][0], organizations) == ("ops@build.example.com", [("example", "Example")])
    assert memberships == [("ops@build.example.com", "example", "owner")]
    assert [url for url, _ in connections] == [URL]
    assert "Porthole is set up" in said


def test_a_second_run_at_a_terminal_asks_only_for_what_is_missing(given: None, answers: Answers, manifest: str) -> None:
    setup("--operator", "ops@example.com", "--organization", "acme")
    answers("manifest", "/no/such/file", manifest)
    setup()
    before = state()
    assert before[-1] == ["App"]
    answers()
    setup()
    assert state() == before


def test_an_operator_who_belongs_to_nothing_is_made_an_owner(given: None, answers: Answers) -> None:
    call_command("create_operator", "ops@example.com", stdout=io.StringIO())
    call_command("create_organization", "acme", name="Acme", stdout=io.StringIO())
    answers("later")
    setup()
    assert Membership.objects.get().role == "owner"


def test_whoever_stops_in_the_middle_is_told_how_to_go_on(monkeypatch: pytest.MonkeyPatch, answers: Answers) -> None:
    answers()

    def end(question: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", end)
    with pytest.raises(CommandError, match="run it again to go on"):
        setup()


BAD = [
    (("--operator", "ada"), "ada is not an e-mail address"),
    (("--organization", "Not OK"), "Not OK is no short name for an organization: Use lowercase"),
    (("--organization", "acme", "--name", "x" * 101), "cannot have this name: .*100 characters"),
    (("--name", "Acme"), "need --organization"),
    (("--manifest", "acme.yaml"), "need --organization"),
    (("--organization", "acme", "--manifest", "/no/such/file"), "/no/such/file cannot be read: No such file"),
    (("--organization", "acme", "--dokploy", URL), "need --key-file"),
    (("--organization", "acme", "--key-file", "key"), "need --key-file"),
    (("--organization", "acme", "--coolify", URL, "--key-file", "/no/such/file"), "cannot be read"),
    (("--organization", "acme", "--coolify", "deploy", "--key-file", "/dev/null"), "must be like https://"),
    (("--organization", "acme", "--coolify", URL, "--key-file", "/dev/null"), "one line of visible characters"),
]


@pytest.mark.parametrize(("flags", "sentence"), BAD)
def test_a_bad_value_is_one_sentence_before_anything_is_made(flags: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence) as refused:
        setup("--operator", "ops@example.com", *flags)
    assert str(refused.value).count("\n") == 0
    assert not User.objects.exists()
    assert not Organization.objects.exists()


def test_a_database_that_cannot_be_used_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise OperationalError('connection failed: FATAL: password authentication failed for user "porthole"\nmore')

    monkeypatch.setattr(prepare, "due_migrations", refuse)
    with pytest.raises(CommandError, match=r"DATABASE_URL names cannot be used: .*failed for user \"porthole\"$"):
        setup()


def test_what_is_missing_is_said(settings: Any) -> None:
    settings.MAIL_IS_SET_UP, settings.HTTPS_REQUIRED = False, True
    said = setup()
    notes = [line.partition(": ")[2].split(":")[0] for line in said.splitlines() if line.startswith("Note: ")]
    assert [note.split(" (")[0] for note in notes] == [
        "There is no operator yet", "There is no organization yet",
        "Nobody belongs to an organization yet, so nobody gets a token", "TRUSTED_PROXIES is not set",
        "EMAIL_URL is not set",
    ]  # fmt: skip


@pytest.mark.process
def test_keys_are_made_before_settings_are_read_and_help_needs_none(tmp_path: Path) -> None:
    status, said = run("manage.py", "setup", env={"DATA_DIR": str(tmp_path)})
    assert (status, said.splitlines()[-1]) == (
        1, "Porthole does not start: PUBLIC_URL must be set, because PORTHOLE_ENV is production.",
    )  # fmt: skip
    assert sorted(os.listdir(tmp_path / "keys")) == ["ENCRYPTION_KEYS", "SECRET_KEY"]
    status, said = run("manage.py", "setup", "--help", env={"DATA_DIR": str(tmp_path / "other")})
    assert status == 0, said
    assert "--organization SLUG" in said
    assert not (tmp_path / "other" / "keys").exists()
