"""The commands that operators type."""

import contextlib
import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.orgs.ids import derived_id
from apps.orgs.models import App, Membership, Organization, Platform, Project, Template, User
from apps.platforms.manifest.export import export
from apps.platforms.snapshot.apply import apply
from tests.config.server import BASE_DIR, LOCAL, environment
from tests.patience import patience
from tests.platforms.snapshots import manifest_platform, rich

pytestmark = pytest.mark.django_db

MANIFEST = """
version: 1
projects:
  - key: p
    name: Project
    apps:
      - {key: a, name: App, source: {type: upload}}
"""


def run(*arguments: str, **options: Any) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def acme_org() -> Organization:
    return Organization.objects.create(slug="acme", name="Acme")


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "acme.yaml"
    file.write_text(MANIFEST)
    return file


def test_sync_manifest_makes_the_rows(acme_org: Organization, manifest: Path) -> None:
    assert run("sync_manifest", "acme", str(manifest)) == "acme: 2 rows created, 0 updated, 0 deleted.\n"
    assert App.objects.get().organization == acme_org
    assert run("sync_manifest", acme_org.pk, str(manifest)) == "acme: nothing had changed.\n"


def test_sync_manifest_checks_a_file_once(
    acme_org: Organization, manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.platforms.snapshot.apply.check", lambda snapshot: pytest.fail("checked again"))
    assert run("sync_manifest", "acme", str(manifest)) == "acme: 2 rows created, 0 updated, 0 deleted.\n"


def test_sync_manifest_reads_standard_input(acme_org: Organization, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(MANIFEST.encode())))
    run("sync_manifest", "acme", "-")
    assert App.objects.count() == 1


def test_a_wrong_manifest_changes_nothing(acme_org: Organization, manifest: Path) -> None:
    run("sync_manifest", "acme", str(manifest))
    manifest.write_text(MANIFEST.replace("key: a", "key: b").replace("upload", "ftp") + "colour: red\n")
    with pytest.raises(CommandError) as raised:
        run("sync_manifest", "acme", str(manifest))
    assert str(raised.value).splitlines() == [
        f"Nothing was changed: 2 problems in {manifest}.",
        "line 7: projects[0].apps[0].source.type: must be one of github, gitlab, bitbucket, gitea, git, docker, upload",
        "line 8: manifest: unknown key: the keys here are version, asOf, staleAfter, connections, projects, secrets, "
        "templates",
    ]
    assert raised.value.returncode == 1
    assert App.objects.get().external_id == "a"
    assert Platform.objects.get().last_sync_status == "ok"


def test_sync_manifest_can_only_check(acme_org: Organization, manifest: Path) -> None:
    assert "is a good manifest" in run("sync_manifest", "acme", str(manifest), "--check")
    assert not App.objects.exists()
    assert not Platform.objects.exists()


def many(keys: Iterable[str]) -> str:
    entries = "".join(f"      - {{key: {key}, name: App {key}, source: {{type: upload}}}}\n" for key in keys)
    return f"version: 1\nprojects:\n  - key: p\n    name: Project\n    apps:\n{entries}"


def test_sync_manifest_says_what_would_change_and_changes_nothing(acme_org: Organization, manifest: Path) -> None:
    assert run("sync_manifest", "acme", str(manifest), "--plan").splitlines() == [
        "acme: 2 rows created, 0 updated, 0 deleted, if this file is synced. Nothing was written.",
        "  projects: 1 rows created, 0 updated, 0 deleted",
        "  apps: 1 rows created, 0 updated, 0 deleted",
    ]
    assert not Platform.objects.exists()
    manifest.write_text(many("abcd"))
    run("sync_manifest", "acme", str(manifest))
    manifest.write_text(many("bx"))
    assert run("sync_manifest", "acme", str(manifest), "--plan").splitlines() == [
        "acme: 1 rows created, 0 updated, 0 deleted, 3 applications hidden, if this file is synced. "
        "Nothing was written.",
        "  apps: 1 rows created, 0 updated, 0 deleted, 3 applications hidden",
        "  would be hidden: App a",
        "  would be hidden: App c",
        "  would be hidden: App d",
        "It needs --allow-deletions: 3 of 4 applications would be hidden.",
    ]
    assert "nothing had changed" not in run("sync_manifest", "acme", str(manifest), "--plan")
    assert set(App.objects.values_list("external_id", "hidden_at")) == {(key, None) for key in "abcd"}


def test_a_manifest_that_shrank_needs_somebody_to_agree(acme_org: Organization, manifest: Path) -> None:
    manifest.write_text(many("abcd"))
    run("sync_manifest", "acme", str(manifest))
    manifest.write_text(many("ab"))
    with pytest.raises(CommandError, match=r"^Nothing was changed: 2 of 4 applications would be hidden, .*--plan"):
        run("sync_manifest", "acme", str(manifest))
    assert not App.objects.filter(hidden_at__isnull=False).exists()
    told = run("sync_manifest", "acme", str(manifest), "--allow-deletions")
    assert told == "acme: 0 rows created, 0 updated, 0 deleted, 2 applications hidden.\n"
    assert run("sync_manifest", "acme", str(manifest)) == "acme: nothing had changed.\n"


def test_sync_manifest_tells_how_far_it_has_got(
    acme_org: Organization, manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.web.management.progress_line.ELSEWHERE", 0.0)
    manifest.write_text(many("abcd"))
    told = io.StringIO()
    run("sync_manifest", "acme", str(manifest), stderr=told)
    lines = told.getvalue().splitlines()
    assert lines[0] == "Reading the manifest: 0 of 0 KiB"
    assert lines[-2:] == ["Updating the database: 1 of 5 rows", "Updating the database: 5 of 5 rows"]
    silent = io.StringIO()
    run("sync_manifest", "acme", str(manifest), stderr=silent, verbosity=0)
    assert silent.getvalue() == ""


@pytest.mark.parametrize("is_new", [True, False])
def test_a_sync_that_is_stopped_leaves_everything_as_it_was(
    acme_org: Organization, manifest: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    if not is_new:
        run("sync_manifest", "acme", str(manifest))
    before = [list(model.objects.values()) for model in (App, Platform, Project, Organization)]
    manifest.write_text(many("abcd"))

    def stop(step: str, done: int, *_: Any) -> None:
        if done == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr("apps.platforms.snapshot.apply.tell", stop)
    with pytest.raises(CommandError, match=r"^Stopped. Nothing was changed.$") as stopped:
        run("sync_manifest", "acme", str(manifest))
    assert stopped.value.returncode == 130
    assert [list(model.objects.values()) for model in (App, Platform, Project, Organization)] == before


def test_a_sync_that_is_stopped_when_all_is_written_says_so(
    acme_org: Organization, manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def apply_and_stop(*args: Any, **options: Any) -> None:
        apply(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr("apps.platforms.management.commands.sync_manifest.apply", apply_and_stop)
    with pytest.raises(CommandError, match=r"^Stopped. By then everything was written.$"):
        run("sync_manifest", "acme", str(manifest))
    assert App.objects.count() == 1


@pytest.mark.parametrize("command", ["sync_manifest", "export_manifest", "add_member"])
@pytest.mark.parametrize("name", ["nobody", "org_00000000000000000000000000"])
def test_an_organization_that_is_not_there_is_told(command: str, name: str) -> None:
    rest = {"sync_manifest": ["x.yaml"], "export_manifest": [], "add_member": ["a@example.com"]}[command]
    with pytest.raises(CommandError, match=f"There is no organization {name}"):
        run(command, name, *rest)


def test_a_file_that_is_not_there_is_told(acme_org: Organization, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file or directory"):
        run("sync_manifest", "acme", str(tmp_path / "none.yaml"))


@pytest.mark.soak
def test_ctrl_c_in_the_middle_of_20000_rows_leaves_the_database_as_it_was(databases: Path, tmp_path: Path) -> None:
    shutil.copy(databases / "organizations.sqlite3", tmp_path / "porthole.sqlite3")
    file = tmp_path / "large.yaml"
    file.write_text(many([f"k{number}" for number in range(20_000)]))
    command = [sys.executable, "manage.py", "sync_manifest", "acme", str(file)]
    terminal, end = os.openpty()
    process = subprocess.Popen(
        command, cwd=BASE_DIR, env=environment(LOCAL | {"DATA_DIR": str(tmp_path), "TERM": "xterm"}), stderr=end
    )
    os.close(end)
    told = b""
    while b"Updating the database" not in told:
        told += os.read(terminal, 1000)
    process.send_signal(signal.SIGINT)
    assert process.wait(patience()) == 130
    told += os.read(terminal, 10_000)
    os.close(terminal)
    assert b"Stopped. Nothing was changed." in told
    with contextlib.closing(sqlite3.connect(tmp_path / "porthole.sqlite3")) as database:
        assert database.execute("SELECT count(*) FROM orgs_app").fetchone() == (0,)
        assert database.execute("SELECT count(*) FROM orgs_platform").fetchone() == (0,)


def test_export_manifest_writes_what_sync_manifest_reads(tmp_path: Path) -> None:
    platform = manifest_platform()
    apply(platform, rich())
    file = tmp_path / "out.yaml"
    assert run("export_manifest", "acme") == export(platform)
    run("export_manifest", "acme", "--output", str(file))
    assert file.read_text(encoding="utf-8") == export(platform)
    assert run("sync_manifest", "acme", str(file)) == "acme: nothing had changed.\n"


def test_export_manifest_says_what_is_missing(acme_org: Organization, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="acme has no dokploy platform"):
        run("export_manifest", "acme", "--platform", "dokploy")
    for name in ("one", "two"):
        Platform.objects.create(organization=acme_org, kind="dokploy", name=name)
    with pytest.raises(CommandError, match="acme has 2 dokploy platforms: choose one with --name"):
        run("export_manifest", "acme", "--platform", "dokploy")
    run("export_manifest", "acme", "--platform", "dokploy", "--name", "two")
    with pytest.raises(CommandError, match="cannot be written"):
        run("export_manifest", "acme", "--platform", "dokploy", "--name", "two", "--output", str(tmp_path))


def test_sync_templates_takes_templates_only(manifest: Path) -> None:
    with pytest.raises(CommandError, match="must hold templates and nothing else"):
        run("sync_templates", str(manifest))
    manifest.write_text("version: 1\ntemplates: [{key: t, name: T, description: D}]\n")
    assert run("sync_templates", str(manifest)) == "Templates: 1 rows created, 0 updated, 0 deleted.\n"
    assert Template.objects.get().organization is None


def test_create_organization() -> None:
    said = run("create_organization", "acme", "--name", "Acme", "--plan", "team")
    organization = Organization.objects.get()
    assert (organization.slug, organization.name, organization.plan) == ("acme", "Acme", "team")
    assert organization.pk in said
    with pytest.raises(CommandError, match="There is already an organization acme"):
        run("create_organization", "acme", "--name", "Acme")


@pytest.mark.parametrize(
    ("slug", "name", "sentence"),
    [("Not OK", "x", "slug: Use lowercase letters"), ("ok", "", "name: "), ("ok", "x" * 101, "name: ")],
)
def test_an_organization_needs_a_good_slug_and_name(slug: str, name: str, sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        run("create_organization", slug, "--name", name)


def test_create_operator_takes_the_password_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTHOLE_OPERATOR_PASSWORD", "correct horse battery")
    run("create_operator", "Ada@Example.com")
    ada = User.objects.get(email="ada@example.com")
    assert (ada.is_staff, ada.is_superuser) == (True, True)
    assert ada.check_password("correct horse battery")
    with pytest.raises(CommandError, match="There is already a user ada@"):
        run("create_operator", "ada@example.com")


def test_create_operator_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    run("create_operator", "ada@example.com")
    assert User.objects.get().check_password("correct horse battery")


def test_create_operator_asks_twice_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", terminal)
    answers = iter(["correct horse battery", "correct horse battery", "one", "another"])
    monkeypatch.setattr("apps.accounts.management.commands.create_operator.getpass", lambda prompt: next(answers))
    run("create_operator", "ada@example.com")
    with pytest.raises(CommandError, match="The two passwords differ"):
        run("create_operator", "grace@example.com")


@pytest.mark.parametrize(
    ("email", "password", "sentence"),
    [
        ("ada", "correct horse battery", "ada is not an e-mail address"),
        ("ada@example.com", "short", "too short"),
        ("ada@example.com", "password123", "too common"),
        ("ada@example.com", "", "A password is needed"),
    ],
)
def test_an_operator_needs_a_good_address_and_password(
    email: str, password: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    with pytest.raises(CommandError, match=sentence):
        run("create_operator", email)
    assert not User.objects.exists()


def test_add_member_makes_an_account_without_a_password(acme_org: Organization) -> None:
    said = run("add_member", "acme", "Ada@Example.com", "--name", "Ada")
    assert said.startswith("ada@example.com is now member of acme.\n")
    membership = Membership.objects.get(organization=acme_org)
    assert (membership.user.name, membership.role) == ("Ada", "member")
    assert not membership.user.has_usable_password()
    assert not membership.user.is_staff


def test_add_member_changes_a_role_only_when_told(acme_org: Organization) -> None:
    run("add_member", "acme", "ada@example.com", "--role", "owner")
    assert "ada@example.com is owner of acme already.\n" in run("add_member", "acme", "ada@example.com")
    said = run("add_member", "acme", "ada@example.com", "--role", "member")
    assert "ada@example.com is now member of acme.\n" in said
    assert Membership.objects.get().role == "member"


def test_add_member_refuses_what_is_no_address(acme_org: Organization) -> None:
    with pytest.raises(CommandError, match="nobody is not an e-mail address"):
        run("add_member", "acme", "nobody")
    with pytest.raises(CommandError, match="at most 100 characters"):
        run("add_member", "acme", "a@example.com", "--name", "x" * 101)
    assert not User.objects.exists()


def test_load_demo_is_for_local_installations_only(settings: Any) -> None:
    settings.IS_LOCAL = False
    with pytest.raises(CommandError, match="only where PORTHOLE_ENV is local"):
        run("load_demo")
    assert not Organization.objects.exists()


def test_load_demo_can_be_run_again(settings: Any) -> None:
    run("load_demo")
    user = User.objects.get(email=settings.DEMO_EMAIL)
    user.set_password("something else entirely")
    user.is_staff = False
    user.save()
    said = run("load_demo")
    assert said.count("nothing had changed") == 3
    user.refresh_from_db()
    assert user.check_password(settings.DEMO_PASSWORD)
    assert user.is_staff
    assert user.is_superuser
    assert list(user.memberships.values_list("organization__slug", "role")) == [("demo", "owner")]
    assert Organization.objects.get(slug="demo").pk == derived_id("org", "demo", "demo")
