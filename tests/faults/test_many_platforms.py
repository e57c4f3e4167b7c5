"""Two workers and two hundred platforms for a minute: each is synced once in its period, none twice at once."""

import json
import os
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.config.server import Server, start, workers
from tests.fakes.dokploy import CANARY, DokployFake, Request
from tests.faults.databases import Database, database
from tests.patience import patience

pytestmark = pytest.mark.soak

PLATFORMS = 200
MINUTE = 60.0
LATE = 5.0  # seconds: on a machine that has nothing else to do
HANGS = 40.0  # seconds: longer than anybody waits
BEGINNING = "settings.getDokployVersion"  # a sync's first call
SELDOM = {"compose.templates"}  # once an hour in each process
# Connected to the addresses URL/0, URL/1 and so on, and due at some moment of the minute.
CONNECT = """
import os
import django
django.setup()
from django.db import transaction
from apps.orgs.models import Organization
from apps.platforms.connecting import Wanted, store
from apps.platforms.connector import Identity
identity = Identity(organization_key="org-acme", organization_name="Acme", version="0.28.5")
with transaction.atomic():
    for number in range(int(os.environ["NUMBER"])):
        organization = Organization.objects.create(slug=f"many-{number}", name=f"Many {number}")
        url = f"{os.environ['URL']}/{number}"
        store(Wanted(organization=organization, kind="dokploy", base_url=url, key=os.environ["KEY"]), identity)
"""


@dataclass(frozen=True)
class Call:
    began: float
    ended: float
    procedure: str
    query: tuple[tuple[str, str], ...]


class ManyDokploys(DokployFake):
    """All with the same rows, told apart by the first part of the path; the first `dead` of them never answer."""

    def __init__(self, dead: int) -> None:
        super().__init__("0.28.5", applications=2)
        self.dead = dead
        self.calls: defaultdict[int, list[Call]] = defaultdict(list)

    def respond(self, request: Request, headers: Any, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        began = time.time()
        _, number, path = request.path.split("/", 2)
        if int(number) < self.dead:
            self._note(int(number), began, path, request)
            self._released.wait(HANGS)
            return 503, b"", {}
        answer = super().respond(Request(request.method, f"/{path}", request.query), headers, body)
        self._note(int(number), began, path, request)
        return answer

    def _note(self, number: int, began: float, path: str, request: Request) -> None:
        call = Call(began, time.time(), path.removeprefix("api/"), tuple(sorted(request.query.items())))
        with self._lock:
            self.calls[number].append(call)

    def syncs(self, number: int) -> list[list[Call]]:
        """The calls of one platform, from one beginning to the next."""
        found: list[list[Call]] = []
        for call in sorted(self.calls[number], key=lambda call: call.began):
            if call.procedure == BEGINNING:
                found.append([])
            found[-1].append(call)
        return found


@contextmanager
def two_workers(database: Database, folder: Path) -> Iterator[list[Server]]:
    """As on two machines, and as anybody starts them."""
    folders = [folder / "one", folder / "two"]
    for data_dir in folders:
        data_dir.mkdir()
    envs = [database.env | {"DATA_DIR": str(data_dir)} for data_dir in folders]
    with workers([Server(0, start("manage.py", "worker", env=env)) for env in envs]) as servers:
        yield servers


def due(database: Database) -> list[float]:
    """When each is synced for the first time (Unix time)."""
    rows = database.query("SELECT due_at FROM jobs_schedule WHERE name LIKE 'platform:%' ORDER BY id")
    moments = [datetime.fromisoformat(row["due_at"]) for row in rows]
    return [moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() for moment in moments]


def cpu_seconds(server: Server) -> float:
    stat = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def end(servers: list[Server]) -> float:
    """Both, and how many seconds that took. What they have said is JSON and tells no key."""
    began = time.monotonic()
    for server in servers:
        server.process.send_signal(signal.SIGTERM)
    for server in servers:
        assert server.process.wait(patience()) == 0
    took = time.monotonic() - began
    for line in [line for server in servers for line in server.lines()]:
        assert json.loads(line)
        assert CANARY not in line
        assert "Traceback" not in line
    return took


def work(of: Counter[Any]) -> Counter[Any]:
    return Counter({call: count for call, count in of.items() if call[0] not in SELDOM})


@pytest.mark.parametrize("dead", [0, 50])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_workers_sync_each_of_200_platforms_once_in_its_minute_and_none_twice_at_once(
    kind: str, dead: int, tmp_path: Path
) -> None:
    with database(kind, tmp_path) as rows, ManyDokploys(dead) as fake:
        rows.run(CONNECT, URL=fake.url, KEY=fake.key, NUMBER=str(PLATFORMS))
        first = due(rows)
        with two_workers(rows, tmp_path) as workers:
            began = time.time()
            deadline = began + MINUTE + patience(LATE)
            while time.time() < began + MINUTE or (len(fake.calls) < PLATFORMS and time.time() < deadline):
                time.sleep(0.1)
            over = time.time()
            cpu = [cpu_seconds(worker) for worker in workers]
            ending = end(workers)
        failed = rows.query("SELECT name FROM jobs_schedule WHERE failures > 0 AND name LIKE 'platform:%'")
        synced = rows.query("SELECT id FROM orgs_platform WHERE last_sync_status = 'ok'")
    living = range(dead, PLATFORMS)
    syncs = {number: fake.syncs(number) for number in range(PLATFORMS)}
    late = [syncs[number][0][0].began - max(first[number], began) for number in living]
    print(f"\n{kind}, {dead} of {PLATFORMS} dead, {over - began:.0f} s: synced "  # noqa: T201
          f"{dict(Counter(len(syncs[number]) for number in living))} times, dead ones begun "
          f"{dict(Counter(len(syncs[number]) for number in range(dead)))} times; latest start {max(late):.1f} s, "
          f"half within {sorted(late)[len(late) // 2]:.2f} s; CPU {cpu[0]:.1f} s and {cpu[1]:.1f} s; "
          f"ended in {ending:.1f} s")  # fmt: skip
    assert max(late) < patience(LATE)
    assert len(synced) == len(living)
    assert len(failed) <= dead
    usual = work(Counter((call.procedure, call.query) for call in syncs[living[0]][0]))
    assert set(usual.values()) == {1}
    for number in living:
        # One more where the first was due before the workers had begun, or where the minute was longer.
        beats = 1 + sum(first[number] + MINUTE * beat < over for beat in (1, 2, 3))
        assert beats - 1 <= len(syncs[number]) <= beats
        # Two at once would mix their calls.
        for sync in syncs[number]:
            assert work(Counter((call.procedure, call.query) for call in sync)) == usual
        for one, next in zip(syncs[number], syncs[number][1:], strict=False):
            assert max(call.ended for call in one) < next[0].began
