"""SECRET_KEY is replaced by rolling restarts while people and programs go on: nobody loses anything."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.config.server import Server, gunicorn, run
from tests.faults.databases import Database, database
from tests.faults.rotating import PREPARE, Load, people_of

pytestmark = pytest.mark.soak
OLD, NEW = "the-old-key-" * 5, "the-new-key-" * 5
PEOPLE, SERVERS = 6, 2
STAGE = 12  # seconds between one step and the next
STEPS = {
    "the new key is made known": {"SECRET_KEY": OLD, "SECRET_KEY_FALLBACKS": NEW},
    "the new key is used": {"SECRET_KEY": NEW, "SECRET_KEY_FALLBACKS": OLD},
    "the old key is gone": {"SECRET_KEY": NEW},
}


class Cluster:
    """Servers behind something that sends nobody to one that is about to end."""

    def __init__(self, rows: Database, stack: ExitStack) -> None:
        self.rows, self.stack, self.load = rows, stack, Load([], [])
        self.servers: list[tuple[Server, ExitStack]] = []
        self.started: list[Server] = []

    def start(self, **keys: str) -> None:
        own = self.stack.enter_context(ExitStack())
        env = self.rows.env | {"PUBLIC_URL": "http://localhost:8000", "RATE_LIMITS": "off"} | keys
        server = own.enter_context(gunicorn(env))
        self.servers.append((server, own))
        self.started.append(server)
        self.load.ports.append(server.port)

    def errors(self) -> list[str]:
        """What any of them has said of what it could not do. Call it when all have ended."""
        return [line for server in self.started for line in server.lines() if '"level":"error"' in line]

    def restart_one_after_the_other(self, **keys: str) -> None:
        for _ in range(SERVERS):
            self.start(**keys)
            server, own = self.servers.pop(0)
            self.load.ports.remove(server.port)
            time.sleep(STAGE / 4)  # servers with both keys answer beside each other
            own.close()


@contextmanager
def cluster(kind: str, folder: Path) -> Iterator[Cluster]:
    with database(kind, folder) as rows, ExitStack() as stack:
        found = Cluster(rows, stack)
        script = PREPARE.replace("PEOPLE", str(PEOPLE))
        status, said = run("-W", "ignore", "-c", script, env=rows.env | {"SECRET_KEY": OLD})
        assert status == 0, said
        found.load.people += people_of(said)
        for _ in range(SERVERS):
            found.start(SECRET_KEY=OLD)
        yield found


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_nobody_loses_anything_while_the_key_is_replaced(kind: str, tmp_path: Path) -> None:
    with cluster(kind, tmp_path) as found:
        load = found.load
        load.start()
        try:
            time.sleep(STAGE)
            for step, keys in STEPS.items():
                if step == "the old key is gone":
                    status, said = run("manage.py", "rotate_keys", env=found.rows.env | STEPS["the new key is used"])
                    assert status == 0, said
                    time.sleep(STAGE)
                found.restart_one_after_the_other(**keys)
                time.sleep(STAGE)
        finally:
            load.end()
    print(f"\n{kind}: {dict(load.told)}")  # noqa: T201
    assert load.lost == [], "\n".join(found.errors())
    assert all(load.told[way] >= 2 * PEOPLE for way in ("refresh", "page", "look", "sign_in", "consent")), load.told
