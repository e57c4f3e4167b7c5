"""A database that workers share, and workers: in this process, and programs."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection, connections

from apps.jobs.worker import Worker
from tests.config.server import LOCAL, Server, start, workers
from tests.jobs import work
from tests.patience import patience

# With leases that end soon, so that no test waits for half a minute.
PROGRAM = """
import sys
from datetime import timedelta
import django
django.setup()
from django.core.management import call_command
from apps.jobs import leases, worker
leases.LEASE, leases.RENEW_EVERY = timedelta(seconds={lease}), {lease} / 4
worker.POLL, worker.GRACE = 0.1, {grace}
call_command("worker", *sys.argv[1:])
"""


@pytest.fixture
def shared(database_for_many: None, transactional_db: None) -> None:
    """Rows that other threads and processes see."""


@pytest.fixture
def diary(tmp_path: Path) -> work.Diary:
    return work.Diary(tmp_path / "diary")


Run = Callable[..., Any]


@pytest.fixture
def in_thread(shared: None, tmp_path: Path) -> Iterator[Run]:
    """Starts workers in this process; they are told to end, and have ended, when the test has."""
    running: list[tuple[Worker, threading.Thread]] = []

    def begin(threads: int = 8, data_dir: Path = tmp_path) -> Worker:
        worker = Worker(threads, data_dir)
        thread = threading.Thread(target=worker.run)
        thread.start()
        running.append((worker, thread))
        return worker

    yield begin
    for worker, thread in running:
        worker.stop()
        worker.wake()
        thread.join(patience())
        assert not thread.is_alive()
    connections.close_all()


@contextmanager
def programs(
    *data_dirs: Path, lease: float = 30.0, grace: float = 20.0, arguments: tuple[str, ...] = ()
) -> Iterator[list[Server]]:
    """Workers that have begun; killed in the end, unless they have ended."""
    servers = [Server(0, launch(data_dir, lease, grace, arguments)) for data_dir in data_dirs]
    with workers(servers):
        yield servers


def launch(data_dir: Path, lease: float, grace: float, arguments: tuple[str, ...]) -> "subprocess.Popen[str]":
    data_dir.mkdir(exist_ok=True)
    env = LOCAL | {"DATA_DIR": str(data_dir), "DATABASE_URL": url(), "DJANGO_SETTINGS_MODULE": "config.settings"}
    return start("-c", PROGRAM.format(lease=lease, grace=grace), *arguments, env=env)


def url() -> str:
    """DATABASE_URL of the tests' database."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    host, port = quote(settings["HOST"], safe=""), settings["PORT"] or 5432
    return f"postgresql://{settings['USER']}:{settings['PASSWORD']}@{host}:{port}/{settings['NAME']}"
