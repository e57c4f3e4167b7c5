"""What every test has: two organizations, and an `api` that checks every answer. Settings: environment.py."""

import fcntl
import gc
import os
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection, connections
from django.db.models.signals import post_migrate
from django.test import Client
from pytest_django.plugin import blocking_manager_key

from apps.oauthmcp.models import Application
from apps.oauthmcp.uses import uses
from apps.orgs.models import Membership, User
from apps.tools import answers
from tests.api import Api
from tests.config.server import LOCAL, Server, gunicorn, make_databases
from tests.database_file import database_in_a_file
from tests.factories import Fill, fill
from tests.operators import client_of
from tests.selection import is_postgresql

MIGRATED = "porthole_migrated"  # the name of a database


def pytest_configure() -> None:
    django_settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    if not is_postgresql():
        # The tables as the models say, in a second instead of eight. PostgreSQL's run migrates, and so do all programs
        # that tests start on SQLite.
        django_settings.DATABASES["default"]["TEST"]["MIGRATE"] = False
    django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On PostgreSQL, one worker migrates, and each has a copy: migrating takes seconds."""
    if not is_postgresql() or "PYTEST_XDIST_WORKER" not in os.environ:
        return
    is_made = tmp_path_factory.getbasetemp().parent / MIGRATED
    with is_made.with_suffix(".lock").open("w") as lock, django_db_blocker.unblock():
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_made.exists():
            make_migrated()
            is_made.touch()
    connection.settings_dict["TEST"]["TEMPLATE"] = MIGRATED


def make_migrated() -> None:
    settings = connection.settings_dict
    name, test = settings["NAME"], settings["TEST"]
    settings["TEST"] = test | {"NAME": MIGRATED}
    gc.disable()  # a quarter of the time would be collecting what migrating has made
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    gc.enable()
    connection.close()
    settings["NAME"], settings["TEST"] = name, test


def pytest_sessionfinish(session: pytest.Session) -> None:
    """When all workers have ended."""
    if is_postgresql() and "PYTEST_XDIST_WORKER" not in os.environ:
        with session.config.stash[blocking_manager_key].unblock():
            with connection.creation._nodb_cursor() as cursor:  # as Django drops its own
                cursor.execute(f"DROP DATABASE IF EXISTS {MIGRATED}")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Cases with transactions of their own empty every table in the end: what migrations put there comes back."""
    with django_db_blocker.unblock():
        if not is_postgresql():
            call_command("migrate", fake=True, verbosity=0)
            for migration in ("0002_docs_client", "0007_script_client"):
                import_module(f"apps.oauthmcp.migrations.{migration}").make_client(apps, None)
        kept = list(Application.objects.all())

    def bring_back(**_: Any) -> None:
        Application.objects.bulk_create(kept, ignore_conflicts=True)

    post_migrate.connect(bring_back, sender=apps.get_app_config("oauthmcp"))
    yield
    post_migrate.disconnect(bring_back, sender=apps.get_app_config("oauthmcp"))
    # Playwright's event loop gave this thread connections that pytest-django does not see, and PostgreSQL drops no
    # database that somebody uses.
    connections.close_all()


@pytest.fixture(scope="module")
def database_for_many(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[None]:
    """Threads and processes may use the module's database at once, each on a connection of its own."""
    with database_in_a_file(tmp_path_factory.mktemp("database"), django_db_blocker):
        yield


@pytest.fixture(autouse=True)
def no_thread_writes_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would not see a test's rows, and would lock its tables. Processes have it (tests/faults)."""
    monkeypatch.setattr(uses, "start", lambda: None)
    monkeypatch.setattr(uses, "_pending", {})


@pytest.fixture(autouse=True)
def no_answer_is_kept_from_another_test() -> None:
    """Each begins with organizations of the same ids and versions, and takes back what it wrote."""
    answers.cache.clear()


@pytest.fixture
def counted_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions rise by one: they are raised to the time otherwise."""
    monkeypatch.setattr("apps.orgs.models.versioned.time_ns", lambda: 0)


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What make_databases makes, once for all workers: migrating takes seconds."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "databases"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            make_databases(folder)
    return folder


@pytest.fixture(scope="session")
def data_dir(databases: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DATA_DIR for processes: a SQLite database that holds the organizations acme and demo."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "static").mkdir()
    shutil.copy(databases / "organizations.sqlite3", folder / "porthole.sqlite3")
    return folder


@pytest.fixture(scope="session")
def local_server(data_dir: Path) -> Iterator[Server]:
    """One worker with its threads, in local, where the bearer sees acme. Nobody breaks it, so all share it."""
    with gunicorn(LOCAL | {"DATA_DIR": str(data_dir), "RATE_LIMITS": "off", "LOCAL_DEV_ORG": "acme"}) as server:
        yield server


@pytest.fixture
def acme(db: None) -> Fill:
    """The organization that the tests' bearer sees, with something in every table."""
    return fill("acme")


@pytest.fixture
def rival(db: None) -> Fill:
    """An organization with the same kinds of things, which acme must never see."""
    return fill("rival")


@pytest.fixture
def api(acme: Fill, rival: Fill, settings: object) -> Api:
    """Calls tools as acme, and checks every answer against openapi.json."""
    settings.LOCAL_DEV_ORG = "acme"  # type: ignore[attr-defined]
    return Api(bearer=django_settings.LOCAL_DEV_BEARER)


@pytest.fixture
def operator(acme: Fill, rival: Fill) -> Client:
    """An operator's browser, signed in to the admin. Acme has a member."""
    user = User.objects.create_superuser("operator@example.com", "a-long-password")
    member = User.objects.create_user("member@example.com", "a-long-password")
    Membership.objects.create(organization=acme.organization, user=member, role="member")
    return client_of(user)
