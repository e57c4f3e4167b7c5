"""What commands say where the database is away or lacks tables, or when somebody stops them."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, get_commands, load_command_class
from django.core.management.base import BaseCommand
from django.db import OperationalError, ProgrammingError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from apps.web import tables
from apps.web.management.database_command import DatabaseCommand
from tests.config.server import LOCAL, run

OURS = sorted(name for name, app in get_commands().items() if str(app).startswith(("apps.", "config")))
# setup and restore make the tables.
NEEDS_NO_ROWS = {"createapplication", "docs", "openapi", "restore", "runserver", "setup"}
NEEDS_ROWS = [name for name in OURS if name not in NEEDS_NO_ROWS]
NO_TABLES = "The database has no tables yet: run manage.py migrate."


@pytest.fixture(autouse=True)
def a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_have_been_there", False)


def command_named(name: str) -> BaseCommand:
    return load_command_class(get_commands()[name], name)


def execute(command: BaseCommand) -> None:
    command.execute(force_color=False, no_color=True, skip_checks=True)


def given(command: BaseCommand, path: str = "x") -> Iterator[str]:
    """Arguments with which a command begins its work."""
    parser = command.create_parser("manage.py", "command")
    for action in parser._actions:
        is_asked = action.required or action.nargs in (None, 1)
        if not is_asked or isinstance(action, argparse._HelpAction):
            continue
        if action.required and action.option_strings:
            yield from (action.option_strings[0], path)
        elif not action.option_strings:
            yield path
    for group in parser._mutually_exclusive_groups:
        if group.required:
            yield from (group._group_actions[0].option_strings[0], path)


def test_what_reads_or_writes_rows_says_so_and_is_told_from_what_does_not() -> None:
    assert len(NEEDS_ROWS) > 10
    for name in OURS:
        assert isinstance(command_named(name), DatabaseCommand) is (name in NEEDS_ROWS), name


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize("name", NEEDS_ROWS)
def test_before_the_first_migrate_every_command_says_so(name: str) -> None:
    MigrationRecorder(connection).migration_qs.delete()
    with pytest.raises(CommandError) as refused:
        execute(command_named(name))
    assert str(refused.value) == NO_TABLES
    assert refused.value.returncode == 1


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize(("count", "words"), [(1, "a migration"), (2, "2 migrations")])
def test_a_migration_that_is_pending_is_told(count: int, words: str) -> None:
    leaves = [MigrationLoader(connection).graph.leaf_nodes(app)[0] for app in ("orgs", "jobs")]
    for leaf in leaves[:count]:
        MigrationRecorder(connection).record_unapplied(*leaf)
    with pytest.raises(CommandError, match=f"^The database lacks {words} of this release: run manage.py migrate.$"):
        execute(command_named("sync_manifest"))


@pytest.mark.django_db
def test_a_migration_of_a_newer_release_does_no_harm() -> None:
    MigrationRecorder(connection).record_applied("orgs", "9999_later")
    assert tables.what_is_missing() is None


@pytest.mark.parametrize("name", NEEDS_ROWS)
def test_a_database_that_is_away_is_told_in_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("connection failed: no route to host\n\tIs the server running?\n")

    monkeypatch.setattr("apps.web.management.database_command.what_is_missing", away)
    command = command_named(name)
    if getattr(command, "waits_for_database", False):
        command.check_migrations()
        return
    with pytest.raises(CommandError) as refused:
        execute(command)
    assert str(refused.value) == "The database does not answer: no route to host. DATABASE_URL names it."


class Failing(DatabaseCommand):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def check_migrations(self) -> None:
        pass

    def handle(self, *args: Any, **options: Any) -> None:
        raise self.error


def unavailable() -> OperationalError:
    error = OperationalError("locked")
    error.__cause__ = type("Locked", (Exception,), {"sqlite_errorname": "SQLITE_BUSY"})()
    return error


@pytest.mark.parametrize(
    ("error", "sentence", "status"),
    [
        (KeyboardInterrupt(), "Stopped. Nothing was changed.", 130),
        (unavailable(), "The database is not available any more (OperationalError SQLITE_BUSY).", 1),
    ],
)
def test_what_ends_a_command_half_way_is_told_in_one_sentence(error: BaseException, sentence: str, status: int) -> None:
    with pytest.raises(CommandError) as stopped:
        execute(Failing(error))
    assert (str(stopped.value), stopped.value.returncode) == (sentence, status)


def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(ProgrammingError):
        execute(Failing(ProgrammingError("no such column")))


@pytest.mark.process
@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("postgresql://porthole:hunter2@127.0.0.1:9/none", "connection to server at"),
        pytest.param("sqlite:///{}/none/file.sqlite3", "unable to open database file.", marks=pytest.mark.soak),
    ],
)
def test_a_process_ends_with_one_line_and_no_traceback(url: str, sentence: str, tmp_path: Path) -> None:
    env = LOCAL | {"DATA_DIR": str(tmp_path), "DATABASE_URL": url.format(tmp_path)}
    status, said = run("manage.py", "create_organization", "acme", "--name", "Acme", env=env)
    assert status == 1
    assert said.startswith(f"CommandError: The database does not answer: {sentence}")
    assert said.count("\n") == 1
    assert "hunter2" not in said


@pytest.mark.soak
@pytest.mark.parametrize("name", OURS)
def test_no_command_ends_with_a_traceback_before_the_first_migrate(name: str, tmp_path: Path) -> None:
    arguments = given(command_named(name), str(tmp_path / "file"))
    status, said = run("manage.py", name, *arguments, env=LOCAL | {"DATA_DIR": str(tmp_path)})
    assert "Traceback" not in said
    if name in NEEDS_ROWS:
        assert (status, said) == (1, f"CommandError: {NO_TABLES}\n")
