"""Workers at work: as programs that share a database, and in this process where they have to be watched closely."""

import json
import os
import resource
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from apps.jobs import data_dirs, leases, scheduling, worker
from apps.jobs.models import Schedule
from apps.jobs.worker import Worker
from tests.config.server import Server
from tests.jobs import work
from tests.jobs.conftest import Run, programs
from tests.jobs.work import Diary
from tests.patience import patience

LONG = 3600


@pytest.fixture(autouse=True)
def only_our_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "_registered", {})


@pytest.fixture
def many_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs for longer than this gives its place to another."""
    monkeypatch.setattr(worker, "SLOW", 0.05)
    monkeypatch.setattr(worker, "POLL", 0.05)


def make(diary: Diary, number: int, period: int, task: Any = work.beat, kind: str = "beat", **arguments: Any) -> None:
    now = timezone.now()
    rows = [
        Schedule(
            name=f"{kind}-{count}",
            task=task.module_path,
            arguments={"name": f"{kind}-{count}", "path": str(diary.path)} | arguments,
            period=period,
            due_at=now + timedelta(seconds=period * count / number) if period < LONG else now,
        )
        for count in range(number)
    ]
    Schedule.objects.bulk_create(rows)


def wait_until(is_so: Any) -> None:
    deadline = time.monotonic() + patience()
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def end(server: Server) -> dict[str, Any]:
    """What it says last."""
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(patience()) == 0
    lines: list[dict[str, Any]] = [json.loads(line) for line in server.lines()]
    assert lines[-1]["message"] == "The worker has ended."
    return lines[-1]


@pytest.mark.process
@pytest.mark.parametrize(
    ("number", "period", "periods"), [(30, 1, 3), pytest.param(200, 10, 6, marks=pytest.mark.soak)]
)
def test_two_workers_do_each_schedule_once_in_each_period_and_none_twice_at_once(
    number: int, period: int, periods: int, shared: None, diary: Diary, tmp_path: Path
) -> None:
    with programs(tmp_path / "one", tmp_path / "two") as (one, two):
        make(diary, number, period, seconds=0.05)
        begun = time.time()
        diary.wait_for("end", number)
        wait_until(lambda: time.time() - begun > period * periods)
        assert end(one)["unfinished"] == end(two)["unfinished"] == 0
    took = time.time() - begun
    assert diary.most_at_once() == 1
    # A worker that is late skips beats, so on a machine with nothing to spare there are fewer, and never more.
    assert max(diary.count().values()) <= took / period + 1
    assert len(diary.count()) == number
    assert diary.count() == diary.count("begin")
    assert len({pid for _, _, _, pid in diary.lines()}) == 2
    print(f"{number} schedules, {took:.1f} s, period {period}: {sorted(diary.count().values())}")  # noqa: T201


@pytest.mark.process
def test_what_a_killed_worker_was_at_begins_anew_elsewhere(shared: None, diary: Diary, tmp_path: Path) -> None:
    make(diary, 4, LONG, seconds=1.0)
    with programs(tmp_path / "one", lease=1.0) as (one,):
        diary.wait_for("begin", 4)
        os.kill(one.process.pid, signal.SIGKILL)
        one.process.wait()
        Schedule.objects.update(due_at=timezone.now())
        with programs(tmp_path / "two", lease=1.0) as (two,):
            diary.wait_for("end", 4)
            end(two)
    assert diary.count() == {f"beat-{count}": 1 for count in range(4)}
    assert not Schedule.objects.exclude(lease=None).exists()
    assert set(DBTaskResult.objects.values_list("status", "exception_class_path")) == {("FAILED", leases.WORKER_LOST)}


@pytest.mark.process
def test_sigterm_ends_what_runs_begins_nothing_and_a_full_or_locked_database_is_waited_for(
    shared: None, diary: Diary, tmp_path: Path
) -> None:
    with programs(tmp_path / "one") as (one,):
        if connection.vendor == "sqlite":
            full_and_locked(one, diary)
        make(diary, 1, LONG, kind="last", seconds=1.0)
        wait_until(lambda: diary.count("begin")["last-0"])
        assert end(one)["unfinished"] == 0
    assert diary.count()["last-0"] == 1
    assert not Schedule.objects.exclude(lease=None).exists()


def full_and_locked(server: Server, diary: Diary) -> None:
    pid = server.process.pid
    make(diary, 3, LONG)
    diary.wait_for("end", 3)
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
    Schedule.objects.update(due_at=timezone.now())
    server.line(lambda line: "waits for its database" in line)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(0.3)
        other.execute("ROLLBACK")
    wait_until(lambda: sum(diary.count().values()) == 6)


@pytest.mark.soak
def test_fifty_that_hang_among_two_hundred_delay_no_other(in_thread: Run, diary: Diary, many_slow: None) -> None:
    make(diary, 50, LONG, work.hang, "dead", gate="fifty")
    Schedule.objects.update(due_at=timezone.now() - timedelta(seconds=60))  # they begin first
    make(diary, 150, LONG)
    begun = time.monotonic()
    in_thread(threads=8)
    diary.wait_for("end", 150)
    took = time.monotonic() - begun
    assert not {name for name in diary.count() if name.startswith("dead")}
    work.gates["fifty"].set()
    diary.wait_for("end", 200)
    print(f"150 beside 50 that hang: {took:.1f} s")  # noqa: T201


def test_slow_ones_are_bounded(in_thread: Run, diary: Diary, many_slow: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "SLOW_FOR_EACH", 2)
    make(diary, 10, LONG, work.hang, "dead", gate="bounded")
    running = in_thread(threads=2)
    diary.wait_for("begin", 6)
    wait_until(lambda: running._places() == 0)
    assert len(diary.count("begin")) == 6
    work.gates["bounded"].set()
    diary.wait_for("end", 10)


def test_a_lease_is_renewed_while_a_task_works(in_thread: Run, diary: Diary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RENEW_EVERY", 0.05)
    make(diary, 1, LONG, work.hang, gate="renewed")
    in_thread()
    diary.wait_for("begin", 1)
    Schedule.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    wait_until(lambda: Schedule.objects.get().is_running)
    work.gates["renewed"].set()
    diary.wait_for("end", 1)


def test_a_task_whose_lease_is_lost_writes_nothing(in_thread: Run, diary: Diary) -> None:
    scheduling.schedule("late", work.confirm_late, {"gate": "lost", "path": str(diary.path)}, LONG, at_once=True)
    in_thread()
    diary.wait_for("begin", 1)
    scheduling.unschedule("late")
    work.gates["lost"].set()
    wait_until(lambda: DBTaskResult.objects.filter(status="FAILED").exists())
    assert not diary.count()
    assert DBTaskResult.objects.get().exception_class_path == leases.WORKER_LOST


def test_what_belongs_to_a_data_dir_is_done_beside_it(in_thread: Run, tmp_path: Path) -> None:
    scheduling.every("mine", work.wait_beside, LONG, per_data_dir=True)
    folders = [tmp_path / name for name in ("one", "two")]
    workers = {}
    for folder in folders:
        folder.mkdir()
        workers[data_dirs.id_of(folder)] = in_thread(data_dir=folder)
    wait_until(lambda: Schedule.objects.count() == 2)
    Schedule.objects.update(due_at=timezone.now())
    wait_until(lambda: Schedule.objects.exclude(lease=None).count() == 2)
    for row in Schedule.objects.all():
        assert DBTaskResult.objects.get(pk=row.lease).worker_ids == [workers[row.data_dir].id]
    work.gates["beside"].set()
    wait_until(lambda: not Schedule.objects.exclude(lease=None).exists())


def test_a_failure_is_logged_without_the_words_of_the_exception(
    in_thread: Run, shared: None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    for name, told in (("bug", False), ("told", True)):
        arguments = {"canary": "porthole-canary", "told": told}
        scheduling.schedule(name, work.break_down, arguments, LONG, at_once=True)
    in_thread()
    wait_until(lambda: Schedule.objects.filter(failures=1).count() == 2)
    lines = {
        line.fields["schedule"]: line for line in caplog.records if hasattr(line, "fields") and "error" in line.fields
    }
    assert lines["told"].getMessage() == "A task failed: The platform is asleep."
    assert lines["bug"].fields["error"] == "builtins.ValueError"
    assert any(where.startswith("work.py:") for where in lines["bug"].fields["at"])
    assert "porthole-canary" not in str([vars(line) for line in caplog.records])


def test_the_end_of_a_run_is_written_again_where_the_database_took_it_not(
    in_thread: Run, diary: Diary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "WRITE_AGAIN", (0.0, 0.01))
    succeed, failures = leases.succeed, [True]

    def first_in_vain(claim: Any) -> None:
        if failures and failures.pop():
            raise OperationalError("database is locked")
        succeed(claim)

    monkeypatch.setattr(leases, "succeed", first_in_vain)
    make(diary, 1, LONG)
    in_thread()
    wait_until(lambda: Schedule.objects.exclude(succeeded_at=None).exists())
    assert diary.count() == {"beat-0": 1}


@contextmanager
def a_lock() -> Iterator[None]:
    with transaction.atomic():  # which is one on SQLite
        if connection.vendor == "postgresql":
            connection.cursor().execute("LOCK TABLE jobs_schedule")
        yield


def test_a_worker_whose_database_is_locked_ends_without_waiting_for_the_lock(
    in_thread: Run, diary: Diary, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker, "LOCK_TIMEOUT", 0.05)
    make(diary, 1, LONG, work.hang, gate="locked")
    running = in_thread()
    diary.wait_for("begin", 1)
    with a_lock():
        begun = time.monotonic()
        work.gates["locked"].set()
        running.stop()
        wait_until(lambda: "The worker has ended." in caplog.messages)
        assert time.monotonic() - begun < worker.GRACE / 2
    assert "How a run ended was not written." in caplog.messages
    assert Schedule.objects.get().lease is not None


def test_a_worker_that_looks_for_work_does_not_wait_for_a_lock(
    in_thread: Run, diary: Diary, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(worker, "LOCK_TIMEOUT", 0.05)
    make(diary, 1, LONG)
    with a_lock():
        begun = time.monotonic()
        in_thread()
        wait_until(lambda: "The worker waits for its database." in caplog.messages)
        assert time.monotonic() - begun < worker.GRACE / 2
    diary.wait_for("end", 1)


@pytest.mark.process
@pytest.mark.soak
def test_a_worker_that_was_told_to_end_waits_for_no_thread_of_what_hangs(
    shared: None, diary: Diary, tmp_path: Path
) -> None:
    make(diary, 1, LONG, work.sleep_in_a_pool, seconds=10 * patience())
    with programs(tmp_path / "one", grace=0.1) as (one,):
        diary.wait_for("begin", 1)
        assert end(one)["unfinished"] == 1
    assert not diary.count()


@pytest.mark.process
def test_a_worker_ends_with_its_parent(shared: None, tmp_path: Path) -> None:
    with programs(tmp_path / "one", arguments=("--parent", "1")) as (server,):  # which is not the parent
        assert server.process.wait(patience()) == 0


def test_a_worker_without_places_begins_nothing(shared: None, diary: Diary, tmp_path: Path) -> None:
    assert Worker(3, tmp_path)._places() == 3
