"""Fifty syncs of a platform that never rests, during which the worker or the database is killed: the rows are right."""

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.dokploy import CANARY, DokployFake
from tests.faults.databases import PostgresqlServer, database
from tests.faults.syncing import RECOUNTED, Fire, different, kept_deployments, rows_of, wait_until
from tests.faults.upheaval import Upheaval

pytestmark = pytest.mark.soak

SYNCS = 50
# Of a run that failed, to see it again as far as the machine's own pace lets it be.
SEED = int(os.environ.get("KILL_SEED") or random.SystemRandom().randrange(2**32))

# Other schedules that were cut, such as the daily ones, are taken with their expired leases when they are due.
LEASED = "SELECT name FROM jobs_schedule WHERE lease IS NOT NULL AND name LIKE 'platform:%'"
FOR_EVER = """
SELECT id FROM django_tasks_database_dbtaskresult WHERE status = 'RUNNING'
AND id NOT IN (SELECT lease FROM jobs_schedule WHERE lease IS NOT NULL)
"""


@contextmanager
def burning(kind: str, folder: Path) -> Iterator[tuple[Fire, Upheaval]]:
    """Twenty applications, previews and a stack are connected, and a worker has begun."""
    print(f"\nKILL_SEED={SEED}")  # noqa: T201
    folder.mkdir(exist_ok=True)
    with database(kind, folder) as rows, DokployFake(applications=20, composes=1, delay=0.01) as fake:
        fake.rows.add_preview(fake.rows.applications[0], 1)
        fire = Fire(rows, fake, random.Random(SEED))
        fire.connect("fire")
        fire.start_worker()
        wait_until(lambda: fire.of("fire")["last_sync_at"] is not None)
        upheaval = Upheaval(fake.rows, random.Random(SEED + 1))
        upheaval.start()
        try:
            yield fire, upheaval
        finally:
            if fire.worker:
                fire.end_worker(signal.SIGKILL)


def wait_for_a_moment(fire: Fire) -> None:
    """While the platform is read, or (as often) while what was read is written."""
    if fire.chance.random() < 0.5:
        time.sleep(fire.chance.uniform(0, 0.5))
    else:
        fire.wait_for_writing()
        time.sleep(fire.chance.uniform(0, 0.04))


def kill_worker(fire: Fire) -> None:
    fire.stop_worker()
    if fire.is_running():
        fire.cut["writing" if fire.database.is_being_written() else "reading"] += 1
    else:
        fire.cut["nothing"] += 1
    fire.end_worker(signal.SIGKILL)
    fire.note()
    fire.start_worker()


def check_what_is_left(fire: Fire, upheaval: Upheaval) -> None:
    """One sync more, of a platform that stands still, and the rows are those of a clean one. Ends the worker."""
    upheaval.stop()
    fire.sync_whole("fire")
    fire.note()
    fire.connect("clean")
    fire.sync_whole("clean")
    found = different(rows_of(fire, "fire", upheaval), rows_of(fire, "clean", upheaval))
    assert found == {}, json.dumps(found, indent=1)
    assert fire.versions == sorted(fire.versions)
    assert {version: len(rows) for version, rows in fire.seen.items() if len(rows) > 1} == {}
    assert fire.end_worker(signal.SIGTERM) == 0
    fire.database.run(RECOUNTED)
    assert fire.database.query(LEASED) == []
    assert fire.database.query(FOR_EVER) == []
    print(f"{fire.begun} syncs; cut: {dict(fire.cut)}; data version {fire.versions[-1]}; "  # noqa: T201
          f"{kept_deployments(fire, upheaval)} deployments kept beyond the platform's")  # fmt: skip
    check_log(fire)


def check_log(fire: Fire) -> None:
    lines = [json.loads(line) for line in fire.said]
    assert CANARY not in "".join(fire.said)
    assert "Traceback" not in "".join(fire.said)
    print("Warnings:", {line["message"] for line in lines if line["level"] != "info"})  # noqa: T201


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_worker_that_is_killed_again_and_again_leaves_the_rows_of_a_clean_sync(kind: str, tmp_path: Path) -> None:
    with burning(kind, tmp_path / "data") as (fire, upheaval):
        while fire.begun < SYNCS:
            fire.begin()
            if fire.chance.random() < 0.45:
                wait_for_a_moment(fire)
                kill_worker(fire)
            else:
                fire.wait_for_end()
                fire.note()
        assert fire.cut["reading"] >= SYNCS // 16
        assert fire.cut["writing"] >= 1
        check_what_is_left(fire, upheaval)


def kill_database(fire: Fire) -> None:
    """And starts it again, while the worker goes on."""
    assert isinstance(fire.database, PostgresqlServer)
    fire.versions.append(fire.version())
    is_running, is_writing = fire.is_running(), fire.database.is_being_written()
    fire.database.server.kill()
    time.sleep(fire.chance.uniform(0, 1.5))
    fire.database.server.start()
    fire.cut["writing" if is_writing else "reading" if is_running else "nothing"] += 1
    fire.versions.append(fire.version())


def test_a_postgresql_that_is_killed_again_and_again_leaves_the_rows_of_a_clean_sync(tmp_path: Path) -> None:
    with burning("postgresql", tmp_path / "data") as (fire, upheaval):
        while fire.begun < SYNCS:
            fire.begin()
            if fire.chance.random() < 0.45:
                wait_for_a_moment(fire)
                kill_database(fire)
            fire.wait_for_end()
            fire.note()
        assert fire.cut["reading"] >= SYNCS // 16
        assert fire.cut["writing"] >= 1
        check_what_is_left(fire, upheaval)
