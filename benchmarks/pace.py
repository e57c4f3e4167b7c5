"""Real platforms' pace in real time: four fakes that count, a real worker on its real schedule, and how old facts get.

    python bin/postgres.py -- python benchmarks/pace.py --minutes 5 [--first]

Dokploy and Coolify with 50 and 500 applications side by side, each call as slow as theirs, with a true limit of calls
in a sliding minute, while deployments begin and end. They mostly wait. Without `--first` what is stored in the
beginning was read without any limit; with it that is by the same rules. The minutes begin once the worker has synced
each.
"""

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

DELAY, LIMIT = 0.3, 200  # seconds of a call; calls in any minute
CHANGE_EVERY = 15.0  # seconds: a deployment of each platform begins, and the one that is UNDER_WAY before it ends
UNDER_WAY = 5
SMALL = 50  # applications, up to which the state comes every minute
THREADS = 8
# What is asked for of one application, by kind of fact; and whether its id is the path's or the query's.
DETAILS = {
    "dokploy": {"details": "application.one", "previews": "previewDeployment.all", "containers": "docker.getService"},
    "coolify": {"details": "/envs", "histories and previews": "/deployments/applications/"},
}


@dataclass
class Case:
    """One platform. `asked` and `shown`: by kind of fact and application, when it was asked for, and when that was of
    what is stored now."""

    kind: str
    size: int
    fake: Any
    platform_id: int = 0
    seen: int = 0  # requests
    first_seconds: float | None = None
    asked: dict[str, dict[str, float]] = field(default_factory=dict)
    shown: dict[str, dict[str, float]] = field(default_factory=dict)
    oldest: dict[str, float] = field(default_factory=dict)
    beats: list[float] = field(default_factory=list)
    begun: dict[str, float] = field(default_factory=dict)  # deployments that are not stored yet
    running: list[Any] = field(default_factory=list)
    is_first: bool = False
    waited: list[float] = field(default_factory=list)
    problems: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        return f"{self.kind} {self.size}"

    @property
    def periods(self) -> list[float]:
        return [later - earlier for earlier, later in pairwise(self.beats)] or [0]

    @property
    def is_ready(self) -> bool:
        """Whether the worker has synced it."""
        return len(self.beats) > (not self.is_first)

    def read_requests(self) -> None:
        requests = self.fake.requests[self.seen :]
        self.seen += len(requests)
        for request in requests:
            for fact, mark in DETAILS[self.kind].items():
                if mark in request.path and (app := app_of(request)):
                    self.asked.setdefault(fact, {})[app] = request.at

    def change(self, turn: int) -> None:
        """A deployment ends, another begins."""
        rows = self.fake.rows
        if len(self.running) >= UNDER_WAY:
            rows.finish(self.running.pop(0))
        if self.kind == "dokploy":
            began = rows.deploy(rows.applications[turn * 7 % self.size])
            self.begun[began["deploymentId"]] = time.monotonic()
        else:
            began = rows.deploy(turn * 7 % self.size)
            self.begun[began] = time.monotonic()
        self.running.append(began)


def app_of(request: Any) -> str | None:
    if request.query:
        told = request.query.get("applicationId") or request.query.get("appName")
        if told:
            return str(told)
    parts = request.path.split("/")
    if request.path.endswith("/envs"):
        return parts[-2] if "applications" in parts else None
    return parts[-1] if "applications" in parts else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--first", action="store_true", help="the first sync too is by the rules")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work()
        return
    with TemporaryDirectory() as folder:
        os.environ |= {"PORTHOLE_ENV": "local", "DATA_DIR": f"{folder}/data"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        measure(options)


def work() -> None:
    """A worker that syncs platforms, and nothing else: no other tasks, which would ask for names."""
    import django

    django.setup()
    from django.conf import settings

    from apps.jobs import scheduling
    from apps.jobs.worker import Worker

    scheduling._registered.clear()
    Worker(THREADS, settings.DATA_DIR, int(os.environ["PARENT"])).run()


def measure(options: argparse.Namespace) -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from tests.fakes.coolify import CoolifyFake
    from tests.fakes.dokploy import DokployFake

    cases = []
    for size in options.sizes:
        # With few applications as many projects as there are: what Coolify takes most calls for.
        cases.append(Case("dokploy", size, DokployFake(applications=size, is_live=True)))
        cases.append(
            Case("coolify", size, CoolifyFake(applications=size, services=0, per_project=1 if size < 100 else 10))
        )
    for case in cases:
        case.fake.__enter__()
        connect(case, options)
    worker = subprocess.Popen(
        [sys.executable, __file__, "--worker"], cwd=ROOT, env=os.environ | {"PARENT": str(os.getpid())}
    )
    try:
        watch(cases, options)
    finally:
        worker.terminate()
        worker.wait()
        for case in cases:
            case.fake.__exit__()
        forget(cases)
    for case in cases:
        print(report(case), flush=True)
    if any(case.fake.minute.refused or (case.size <= SMALL and median(case.periods) > 61) for case in cases):
        sys.exit("Too many calls, or too seldom a state.")


def connect(case: Case, options: argparse.Namespace) -> None:
    from unittest.mock import patch

    from apps.net.encryption import encrypt_credential
    from apps.orgs.models import Organization, Platform
    from apps.platforms import connectors
    from apps.platforms.models import PlatformConnection
    from apps.platforms.sync.run import sync_platform
    from apps.platforms.tasks import schedule_sync

    fake, slug = case.fake, f"pace-{case.kind}-{case.size}"
    Organization.objects.filter(slug=slug).delete()
    organization = Organization.objects.create(slug=slug, name=slug)
    platform = Platform.objects.create(organization=organization, kind=case.kind, name="default", sync_period=60)
    case.platform_id = platform.pk
    if case.kind == "coolify":
        from django.utils import timezone

        fake.rows.clock, fake.mcp = timezone.now(), "on"
    else:
        for index in range(0, case.size, 10):
            fake.rows.add_preview(fake.rows.applications[index], index + 1)
    identity = connectors.connector_for(case.kind, fake.url, fake.key).identify()
    PlatformConnection.objects.create(
        platform=platform, base_url=fake.url, encrypted_key=encrypt_credential(fake.key),
        organization_key=identity.organization_key, organization_name=identity.organization_name,
        reads_previews=case.kind == "coolify",
    )  # fmt: skip
    case.is_first = options.first
    if not case.is_first:
        name = "DokployConnector" if case.kind == "dokploy" else "CoolifyConnector"
        with patch.object(connectors, name, partial(getattr(connectors, name), calls_per_minute=10**6)):
            sync_platform(platform.pk)
    case.read_requests()
    case.shown = {fact: dict(of_app) for fact, of_app in case.asked.items()}
    fake.delay, fake.minute.limit = DELAY, LIMIT
    fake.minute.reset()
    schedule_sync(platform.pk, at_once=options.first)


def watch(cases: list[Case], options: argparse.Namespace) -> None:
    began = time.monotonic()
    until: float | None = None
    turn, change_at = 0, began
    while until is None or time.monotonic() < until:
        now = time.monotonic()
        is_steady = all(case.is_ready for case in cases)
        if until is None and is_steady:
            until, change_at = now + options.minutes * 60, now
        for case in cases:
            look(case, now - began, counts=is_steady)
        if is_steady and now >= change_at:
            change_at, turn = change_at + CHANGE_EVERY, turn + 1
            for case in cases:
                case.change(turn)
        time.sleep(0.5)


def look(case: Case, seconds: float, *, counts: bool) -> None:
    from django.utils import timezone

    from apps.orgs.models import Deployment
    from apps.platforms.models import PlatformConnection

    connection = PlatformConnection.objects.select_related("platform").get(pk=case.platform_id)
    synced = connection.platform.last_sync_at
    if connection.last_error:
        case.problems.add(connection.last_error)
    if synced is None:
        return
    if case.first_seconds is None:
        case.first_seconds = seconds
    if not case.beats or synced.timestamp() != case.beats[-1]:
        case.beats.append(synced.timestamp())
    if connection.progress is None:
        case.read_requests()
        case.shown = {fact: dict(of_app) for fact, of_app in case.asked.items()}
    if not counts:
        return
    now = time.monotonic()
    ages = {"state": (timezone.now() - synced).total_seconds()}
    ages |= {fact: now - min(of_app.values()) for fact, of_app in case.shown.items()}
    for fact, age in ages.items():
        case.oldest[fact] = max(age, case.oldest.get(fact, 0))
    stored = Deployment.objects.filter(platform=case.platform_id, external_id__in=list(case.begun))
    for key in stored.values_list("external_id", flat=True):
        case.waited.append(now - case.begun.pop(key or ""))


def forget(cases: list[Case]) -> None:
    from apps.orgs.models import Organization

    Organization.objects.filter(slug__in=[f"pace-{case.kind}-{case.size}" for case in cases]).delete()


def report(case: Case) -> str:
    ages = ", ".join(f"{fact} {age:.0f}" for fact, age in case.oldest.items())
    waited = f"{median(case.waited):.0f} s (worst {max(case.waited):.0f})" if case.waited else "never"
    lines = [
        f"{case.name}: at most {case.fake.minute.most} calls a minute, {case.fake.minute.refused} refused",
        f"  state every {median(case.periods):.0f} s (worst {max(case.periods):.0f}); oldest, in seconds: {ages}",
        f"  a deployment that begins is stored after {waited}, of {len(case.waited)}",
    ]
    if case.is_first:
        lines.append(f"  the first sync took {case.first_seconds or 0:.0f} s")
    return "\n".join([*lines, *(f"  {problem}" for problem in case.problems)])


if __name__ == "__main__":
    main()
