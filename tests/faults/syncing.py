"""A worker that syncs a Dokploy which never rests, and what is left of the rows when something was killed meanwhile."""

import hashlib
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.config.server import Server, start
from tests.fakes.dokploy import DokployFake
from tests.faults.databases import Database, Row
from tests.faults.upheaval import Upheaval
from tests.patience import patience

# Of an organization each, whose slug is in SLUG; the key is in no argument.
CONNECT = """
import os
import django
django.setup()
from apps.orgs.models import Organization
from apps.platforms.connecting import Wanted, store, try_key
slug = os.environ["SLUG"]
organization = Organization.objects.create(slug=slug, name=slug)
wanted = Wanted(organization=organization, kind="dokploy", base_url=os.environ["URL"], key=os.environ["KEY"])
store(wanted, try_key(wanted), at_once=True)
"""
# manage.py worker, with leases that end soon, so that no test waits for half a minute, and without a limit of calls.
WORKER = """
import sys
from datetime import timedelta
from functools import partial
import django
django.setup()
from django.core.management import call_command
from apps.jobs import leases, worker
from apps.platforms import connectors
leases.LEASE, leases.RENEW_EVERY = timedelta(seconds=3), 0.5
worker.POLL, worker.MAX_PAUSE, worker.WRITE_AGAIN = 0.1, 0.5, (0.0, 0.2, 1.0)
connectors.DokployConnector = partial(connectors.DokployConnector, calls_per_minute=60_000)
call_command("worker")
"""
BEGINNING = "/api/settings.getDokployVersion"  # a sync's first call
# Where an organization differs from another with the same platform: its own ids, and when something was read.
OWN = {
    "organization_id", "platform_id", "checked_at", "detail_read_at", "last_sync_at", "deletions_confirmed_at",
}  # fmt: skip
# The prober's, people's, and counters.
NOT_OF_A_SYNC = {"orgs_edgefact", "orgs_edgehour", "orgs_edgestatistics", "orgs_membership", "orgs_dataversion",
                 "orgs_invitation", "orgs_organizationcounts"}  # fmt: skip
# What is kept, and what is counted anew; not since when, which goes on by itself.
RECOUNTED = """
import django
django.setup()
from apps.orgs.counts import keep_counts
from apps.orgs.models import OrganizationCounts, ProjectCounts
def kept():
    counts = OrganizationCounts.objects.filter(organization__slug="fire")
    projects = ProjectCounts.objects.filter(project__organization__slug="fire").order_by("pk")
    return list(counts.values("pk", "data_version", "projects", "apps", "domains", "previews", "deployments")), list(
        projects.values()
    )
before = kept()
OrganizationCounts.objects.filter(organization__slug="fire").delete()
keep_counts(before[0][0]["pk"])
for was, is_ in zip(before, kept(), strict=True):
    assert was == is_, [pair for pair in zip(was, is_, strict=True) if pair[0] != pair[1]]
"""


@dataclass
class Fire:
    """One worker, one platform, and what was seen so far.

    `cut`: where syncs were that were ended half way: "writing" in their transaction, "reading" before it (or between it
    and the note that they have ended); "nothing": there was none.
    """

    database: Database
    fake: DokployFake
    chance: random.Random
    worker: Server | None = None
    begun: int = 0
    cut: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    seen: dict[int, set[str]] = field(default_factory=dict)  # digests of all rows, by data version
    _platforms: dict[str, int] = field(default_factory=dict)

    def connect(self, slug: str) -> None:
        self.database.run(CONNECT, SLUG=slug, URL=self.fake.url, KEY=self.fake.key)

    def start_worker(self) -> None:
        self.worker = Server(0, start("-c", WORKER, env=self.database.env))
        self.worker.line(lambda line: "The worker has begun" in line)

    @property
    def pid(self) -> int:
        assert self.worker
        return self.worker.process.pid

    def end_worker(self, number: int) -> int:
        """By a signal. What it said is in `said`."""
        assert self.worker
        os.kill(self.pid, number)
        status = self.worker.process.wait(patience())
        self.said += self.worker.lines()
        self.worker.close()
        self.worker = None
        return status

    def stop_worker(self) -> None:
        """It stands still at whatever it does, until it is killed."""
        os.kill(self.pid, signal.SIGSTOP)
        wait_until(lambda: Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")

    def begin(self, slug: str = "fire") -> None:
        """What `Sync now` does, and waits until the platform is asked."""
        before = self.syncs_seen()
        name = f"'platform:{self.platform(slug)}'"
        self.database.query(f"UPDATE jobs_schedule SET due_at = {self.now} WHERE name = {name}")
        wait_until(lambda: self.syncs_seen() > before)
        self.begun += 1

    @property
    def now(self) -> str:
        """In SQL."""
        is_sqlite = self.database.url.startswith("sqlite")
        return "strftime('%Y-%m-%d %H:%M:%f', 'now')" if is_sqlite else "now()"

    def syncs_seen(self) -> int:
        return sum(request.path == BEGINNING for request in list(self.fake.requests))

    def is_running(self, slug: str = "fire") -> bool:
        """Whether a sync was begun whose end is not written, and whose lease has not ended either."""
        where = f"name = 'platform:{self.platform(slug)}' AND lease_until > {self.now}"
        return bool(self.database.query(f"SELECT lease FROM jobs_schedule WHERE {where}"))

    def wait_for_end(self) -> None:
        wait_until(lambda: not self.is_running())

    def wait_for_writing(self) -> None:
        """Until what was read is being written, or the sync has ended."""
        while self.is_running() and not self.database.is_being_written():
            time.sleep(0.002)

    def platform(self, slug: str) -> int:
        if slug not in self._platforms:
            self._platforms[slug] = self.of(slug)["id"]
        return self._platforms[slug]

    def of(self, slug: str) -> Row:
        """The platform of an organization."""
        where = f"organization_id = (SELECT id FROM orgs_organization WHERE slug = '{slug}')"
        return self.database.query(f"SELECT * FROM orgs_platform WHERE {where}")[0]

    def note(self) -> None:
        """The organization's data version, and what its rows were then. Call it while nothing is synced."""
        before, rows, after = self.version(), all_rows(self, "fire"), self.version()
        self.versions.append(after)
        if before == after:
            digest = hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
            self.seen.setdefault(after, set()).add(digest)

    def version(self) -> int:
        where = f"organization_id = '{self.of('fire')['organization_id']}'"
        version: int = self.database.query(f"SELECT data_version FROM orgs_dataversion WHERE {where}")[0][
            "data_version"
        ]
        return version

    def sync_whole(self, slug: str) -> None:
        """A sync that nothing disturbs, of what stands still."""
        wait_until(lambda: not self.is_running(slug))
        before = self.of(slug)["last_sync_at"]
        self.begin(slug)
        wait_until(lambda: not self.is_running(slug))
        row = self.of(slug)
        assert row["last_sync_status"] == "ok"
        assert row["last_sync_at"] != before


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + patience()
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def rows_of(fire: Fire, slug: str, upheaval: Upheaval) -> dict[str, list[Row]]:
    """By table, what a clean sync must tell alike: without hidden applications and what the platform has forgotten."""
    tables = _tables(fire, slug)
    hidden = {row["id"] for row in tables["orgs_app"] if row["hidden_at"] is not None}
    told = {row["deploymentId"] for row in upheaval.rows.deployments}
    names = _names(tables)
    found = {}
    for table, rows in tables.items():
        kept = [row for row in rows if row.get("app_id") not in hidden and row.get("id") not in hidden]
        if table == "orgs_deployment":
            kept = [row for row in kept if row["external_id"] in told]
        found[table] = _sorted(_told(row, names) for row in kept)
    return found


def all_rows(fire: Fire, slug: str) -> dict[str, list[Row]]:
    """By table, all that a sync writes and that raises the data version."""
    tables = _tables(fire, slug)
    names = _names(tables)
    return {table: _sorted(_told(row, names) for row in rows) for table, rows in tables.items()}


def _tables(fire: Fire, slug: str) -> dict[str, list[Row]]:
    organization = fire.of(slug)["organization_id"]
    return {
        name: fire.database.query(f"SELECT * FROM {name} WHERE organization_id = '{organization}'")
        for name, columns in fire.database.tables().items()
        if name.startswith("orgs_") and "organization_id" in columns and name not in NOT_OF_A_SYNC
    }


def _names(tables: dict[str, list[Row]]) -> dict[str, str]:
    """The platform's keys by id."""
    everything = [row for rows in tables.values() for row in rows]
    return {row["id"]: row.get("external_id") or "" for row in everything if isinstance(row.get("id"), str)}


def _sorted(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def _told(row: Row, names: dict[str, str]) -> Row:
    """With the platform's keys in place of ids."""
    told = {name: value for name, value in row.items() if name not in OWN}
    if isinstance(told.get("instances"), str):
        told["instances"] = json.loads(told["instances"])
    # "3 minutes ago" is another moment each time.
    for instance in told.get("instances", []):
        instance["since"] = None
    if not isinstance(told.get("id"), str):
        told.pop("id", None)
    return {name: names.get(value, value) if isinstance(value, str) else value for name, value in told.items()}


def different(one: dict[str, list[Row]], other: dict[str, list[Row]]) -> dict[str, Any]:
    """By table, the rows that only one of them has."""
    found = {}
    for table in sorted({*one, *other}):
        ours, theirs = one.get(table, []), other.get(table, [])
        if ours != theirs:
            found[table] = ([row for row in ours if row not in theirs], [row for row in theirs if row not in ours])
    return found


def kept_deployments(fire: Fire, upheaval: Upheaval) -> int:
    """Those that the platform has forgotten: each was there once, and none twice."""
    where = f"organization_id = '{fire.of('fire')['organization_id']}'"
    keys = [row["external_id"] for row in fire.database.query(f"SELECT external_id FROM orgs_deployment WHERE {where}")]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= upheaval.deployments
    return len(set(keys) - {row["deploymentId"] for row in upheaval.rows.deployments})
