"""Backups of a running installation, restored by commands into folders and databases that were empty."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.config.server import LOCAL, run
from tests.faults.databases import MIGRATE, Database, PostgresqlServer, SqliteFile
from tests.faults.postgresql import postgresql

pytestmark = [pytest.mark.soak, pytest.mark.process]
MANAGE = "manage.py"
FILL = """
import json
import django
django.setup()
from tests.accounts.visitors import give_second_factor
from tests.factories import fill, make_more
from tests.oauthmcp.grants import *
works = fill("acme")
make_more(works, 300)
member = make_member(works.organization)
give_second_factor(member.user)
print(json.dumps(make_access_token(make_authorization(make_client(), member))))
"""
WRITE = """
import django
django.setup()
from django.db import transaction
from apps.orgs.models import App, Organization, Project
for number in range(200):
    with transaction.atomic():
        organization = Organization.objects.create(slug=f"written-{number}", name="Written")
        project = Project.objects.create(organization=organization, name="p")
        App.objects.create(organization=organization, project=project, name="a", slug="a", source_type="docker")
print("written")
"""
# What people and programs do with what came back; and that every row belongs to something.
USE = """
import json
import time
import django
django.setup()
from django.conf import settings
from django.db import connection
from django.test import Client
from apps.orgs.models import App, Organization
from tests.accounts.visitors import code, sign_in, visitor
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
connection.check_constraints()
browser = visitor()
browser.post(sign_in(browser)["Location"], {"code": code(int(time.time()) // 30)})
answer = Client(headers={"host": "localhost", "authorization": "Bearer TOKEN"}).post(
    "/api/v1/tools/get_account", "{}", content_type="application/json")
whole = App.objects.filter(organization__slug__startswith="written-").count()
print(json.dumps({"page": browser.get("/account/").content.decode(), "status": answer.status_code, "apps": whole,
    "organizations": Organization.objects.filter(slug__startswith="written-").count()}))
"""
EARLIER = """
import django
django.setup()
from django.core.management import call_command
call_command("migrate", "orgs", "0008", verbosity=0)
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
state = MigrationExecutor(connection).loader.project_state([("orgs", "0008_background")])
state.apps.get_model("orgs", "User").objects.create(email="ada@example.com")
"""


def manage(database: Database, *arguments: str) -> str:
    status, said = run(MANAGE, *arguments, env=database.env)
    assert status == 0, said
    return said


@contextmanager
def empty_database(kind: str, folder: Path) -> Iterator[Database]:
    """Without a table."""
    folder.mkdir()
    if kind == "sqlite":
        yield SqliteFile(folder)
        return
    with postgresql() as server:
        found = PostgresqlServer(server, folder)
        yield found
        found.close()


def use(database: Database, token: str) -> dict[str, Any]:
    told = database.run(USE.replace("TOKEN", token)).splitlines()  # among lines of the log
    found: dict[str, Any] = json.loads(next(line for line in told if line.startswith('{"page"')))
    return found


def counts(database: Database) -> dict[str, int]:
    beside = ("django_migrations", "porthole_cache", "sqlite_sequence")
    return {
        table: database.query(f'SELECT count(*) AS n FROM "{table}"')[0]["n"]
        for table in sorted(database.tables())
        if table not in beside
    }


@pytest.mark.parametrize(
    ("source", "target"),
    [("sqlite", "sqlite"), ("postgresql", "postgresql"), ("sqlite", "postgresql"), ("postgresql", "sqlite")],
)
def test_what_is_restored_into_an_empty_folder_is_the_same_and_works(source: str, target: str, tmp_path: Path) -> None:
    file = str(tmp_path / "a.backup")
    with empty_database(source, tmp_path / "old") as old:
        old.run(MIGRATE)
        token = json.loads(old.run(FILL).splitlines()[-1])
        manifest, before = manage(old, "export_manifest", "acme"), counts(old)
        manage(old, "backup", file)
    with empty_database(target, tmp_path / "new") as new:
        manage(new, "restore", file)
        assert manage(new, "export_manifest", "acme") == manifest
        assert counts(new) == before
        used = use(new, token)
        assert "ada@example.com" in used["page"]
        assert used["status"] == 200


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_is_of_one_moment_while_others_write(kind: str, tmp_path: Path) -> None:
    with empty_database(kind, tmp_path / "old") as old:
        old.run(MIGRATE)
        token = json.loads(old.run(FILL).splitlines()[-1])
        writing = threading.Thread(target=old.run, args=(WRITE,))
        writing.start()
        files = []
        while writing.is_alive():
            files.append(str(tmp_path / f"{len(files)}.backup"))
            manage(old, "backup", files[-1])
        writing.join()
    seen = []
    with empty_database(kind, tmp_path / "new") as new:
        for file in files:
            manage(new, "restore", "--overwrite", file)
            used = use(new, token)
            assert used["apps"] == used["organizations"]  # each is written together with its application
            seen.append(used["apps"])
    assert seen == sorted(seen)
    assert any(0 < number < 200 for number in seen), seen


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_of_an_earlier_version_is_brought_up_to_date(kind: str, tmp_path: Path) -> None:
    file = str(tmp_path / "a.backup")
    with empty_database("sqlite", tmp_path / "old") as old:
        old.run(EARLIER)
        manage(old, "backup", file)
    with empty_database(kind, tmp_path / "new") as new:
        new.run(MIGRATE)  # as whoever follows the checklist first
        manage(new, "restore", file)
        assert "No migrations to apply" in manage(new, "migrate")
        assert [row["email"] for row in new.query("SELECT email FROM orgs_user")] == ["ada@example.com"]


def test_without_tables_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    status, said = run(MANAGE, "backup", str(tmp_path / "a"), env=LOCAL | {"DATA_DIR": str(tmp_path / "data")})
    assert (status, said.strip()) == (1, "CommandError: The database has no tables yet: run manage.py migrate.")
    assert not (tmp_path / "a").exists()
