"""A PostgreSQL that stands still with every connection open: nobody waits for long, and it mends itself."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import psycopg
import pytest

from config.database import parse
from tests.config.server import LOCAL, TOOL, Answer, Server, gunicorn, run
from tests.faults.postgresql import ORGANIZATION, PostgreSQL, postgresql
from tests.patience import patience

pytestmark = [pytest.mark.process, pytest.mark.soak]
CALLERS = 20  # over eight threads
IN_TIME = 5.0  # seconds


@dataclass
class Room:
    """A server, and the database that it needs."""

    server: Server
    database: PostgreSQL

    def ask(self, target: str) -> tuple[Answer, float]:
        started = time.monotonic()
        answer = self.server.call(target, method="POST" if target == TOOL else "GET")
        return answer, time.monotonic() - started

    def ask_all(self) -> list[tuple[Answer, float]]:
        with ThreadPoolExecutor(CALLERS + 1) as pool:
            return list(pool.map(self.ask, ["/readyz"] + [TOOL] * CALLERS))

    def statuses(self) -> set[int]:
        return {answer.status for answer, _ in self.ask_all()}


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    with postgresql() as database:
        # An answer that is kept would be told whoever holds the table.
        env = LOCAL | {"DATABASE_URL": database.url, "LOCAL_DEV_ORG": "acme", "RATE_LIMITS": "off"}
        env |= {"ANSWER_CACHE_MIB": "0"}
        status, said = run("-c", ORGANIZATION, env=env | {"DJANGO_SETTINGS_MODULE": "config.settings"})
        assert status == 0, said
        with gunicorn(env | {"WEB_CONCURRENCY": "2"}) as server:
            yield Room(server, database)


def everything(database: PostgreSQL) -> list[int]:
    return [database.main, *database.processes()]


def every_connection(database: PostgreSQL) -> list[int]:
    """New ones are taken."""
    return database.processes()


def mends_itself(room: Room) -> bool:
    """Each of the processes asks again after two seconds, and one round may reach one of them only."""
    deadline, rounds = time.monotonic() + patience(), 0
    while rounds < 5 and time.monotonic() < deadline:
        rounds = rounds + 1 if room.statuses() == {200} else 0
        time.sleep(0 if rounds else 0.5)
    return rounds == 5


@pytest.mark.parametrize("stopped", [everything, every_connection])
def test_a_database_that_stands_still_is_503_in_time_and_mends_itself(
    room: Room, stopped: Callable[[PostgreSQL], list[int]]
) -> None:
    assert room.statuses() == {200}
    room.database.stop(stopped(room.database))
    answers = room.ask_all()
    assert max(seconds for _, seconds in answers) < patience(IN_TIME) / 3, answers
    if stopped is everything:
        assert {answer.status for answer, _ in answers} == {503}
        for answer, _ in answers[1:]:
            assert json.loads(answer.body)["code"] == "unavailable"
            assert int(answer.headers["retry-after"]) > 0
    else:
        assert {answer.status for answer, _ in answers} <= {200, 503}
    room.database.go_on()
    assert mends_itself(room)


def test_a_table_that_somebody_holds_is_503_in_time_and_the_server_is_told_to_forget_the_question(room: Room) -> None:
    assert room.statuses() == {200}
    with psycopg.connect(room.database.url) as holder:
        holder.execute("LOCK TABLE orgs_app")
        answers = room.ask_all()
        assert {answer.status for answer, _ in answers[1:]} == {503}
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        assert holder.execute(waiting).fetchone() == (0,)
        holder.rollback()
    assert mends_itself(room)


def test_commands_wait_as_long_as_it_takes() -> None:
    options = parse("postgresql://porthole@db.example.com/porthole")["OPTIONS"]
    assert "answer_timeout" not in options
    assert "options" not in options
