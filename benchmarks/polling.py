"""How often an answer is one that is kept: agents that poll, while the worker checks domains as it always does.

    python bin/postgres.py -- python -m benchmarks.polling --output build/bench/polling.json

Agents of five organizations ask six tools each, half of them with `ifVersion`; one organization deploys meanwhile.
Calls are made in this process, with a cache for each of two server processes, since each keeps its own; the worker is
another process. A call is a hit if its tool was not run. Polling begins after the first round of checks, which brings
more news than those that follow, and so that the next one falls into its minute.
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson

from benchmarks.django_setup import set_up
from benchmarks.servers import ROOT

ORGANIZATIONS, AGENTS, PROCESSES = 5, 4, 2  # agents of each organization
EVERY = 5.0  # seconds between two calls of one agent and tool
DEPLOYS = 20.0  # seconds between two deployments of the organization that deploys
FIRST_ROUND = 90.0  # seconds in which it has to be there
PAUSE = 10.0  # seconds after it
HOST = "app-{}.{}.bench.test"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    with site() as port:
        os.environ |= {"PROBE_NETWORKS": "127.0.0.0/8", "PROBE_CONNECT_TO": f"*.bench.test=127.0.0.1:{port}"}
        with set_up():
            options.output.write_text(json.dumps(measured(options.seconds)))


def measured(seconds: float) -> dict[str, Any]:
    """`hit_rate` of all calls, of each tool's and of those with ifVersion; what was written meanwhile."""
    from apps.orgs.models import App, EdgeFact, Organization
    from benchmarks import stock

    logging.disable(logging.CRITICAL)
    stock.fill()
    organizations = list(Organization.objects.filter(slug__startswith=stock.SLUG).order_by("slug")[:ORGANIZATIONS])
    apps = {one.slug: list(App.objects.filter(organization=one).order_by("pk")) for one in organizations}
    add_domains([app for those in apps.values() for app in those])
    polling = Polling(apps)
    checked = EdgeFact.objects.filter(organization__in=organizations, checked_at__isnull=False)
    with worker():
        wait_for(lambda: checked.count() == sum(map(len, apps.values())))
        time.sleep(PAUSE)
        polling.turn()
        polling.tally = Tally()
        first_round, before = checked.latest("checked_at").checked_at, versions()
        polling.run(seconds)
    changed = [column for pk, now in versions().items() for column in now if now[column] != before[pk][column]]
    return polling.tally.rates() | {
        "domains_checked": checked.filter(checked_at__gt=first_round).count(),
        "organizations_with_checks": changed.count("checks_version"),
        "organizations_with_news": changed.count("data_version"),
    }


def versions() -> dict[str, dict[str, int]]:
    from apps.orgs.models import DataVersion

    rows = DataVersion.objects.values("organization_id", "data_version", "checks_version")
    return {str(row.pop("organization_id")): row for row in rows}


class Polling:
    """Agents of each organization, the first of which deploys. `apps`: by organization."""

    def __init__(self, apps: dict[str, list[Any]]) -> None:
        from django.conf import settings

        from apps.tools.answer_cache import AnswerCache

        self.deploying = next(iter(apps.values()))[0]
        self.agents = [
            # In the one process who sends versions asks first, in the other who sends none.
            Agent(slug, number % PROCESSES, (number + number // PROCESSES) % 2 == 0, inputs_of(those[number]))
            for slug, those in apps.items() for number in range(AGENTS)
        ]  # fmt: skip
        self.caches = [AnswerCache(settings.ANSWER_CACHE_MIB * 2**20) for _ in range(PROCESSES)]
        self.tally, self.ran = Tally(), count_runs()

    def turn(self) -> None:
        from django.conf import settings

        from apps.tools import answers

        for agent in self.agents:
            settings.LOCAL_DEV_ORG, answers.cache = agent.slug, self.caches[agent.process]
            agent.poll(self.ran, self.tally)

    def run(self, seconds: float) -> None:
        began = deployed_at = time.monotonic()
        while (now := time.monotonic()) < began + seconds:
            if now >= deployed_at + DEPLOYS:
                deploy(self.deploying)
                deployed_at = now
            self.turn()
            time.sleep(max(0.0, now + EVERY - time.monotonic()))


@dataclass
class Tally:
    calls: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def add(self, is_hit: bool, *kinds: str) -> None:
        self.calls.update(kinds)
        self.missed.update({} if is_hit else kinds)

    def rates(self) -> dict[str, Any]:
        rates = {kind: round(1 - self.missed[kind] / number, 4) for kind, number in self.calls.items()}
        return {"calls": self.calls["all"], "hit_rate": rates.pop("all"), "by_kind": rates}


@dataclass
class Agent:
    """A program that asks its organization's tools in turn. `sends_versions`: as ifVersion, where it has one."""

    slug: str
    process: int
    sends_versions: bool
    inputs: dict[str, dict[str, Any]]
    known: dict[str, str] = field(default_factory=dict)

    def poll(self, ran: Counter[str], tally: Tally) -> None:
        from django.conf import settings

        from benchmarks.in_process import Variant

        for name, sent in self.inputs.items():
            with_version = sent | ({"ifVersion": self.known[name]} if name in self.known else {})
            call = Variant(name, f"/api/v1/tools/{name}", _handler(), settings.LOCAL_DEV_BEARER, with_version)
            ran.clear()
            answer = orjson.loads(call.call())
            kind = "with ifVersion" if name in self.known else "without ifVersion"
            tally.add(not ran.total(), "all", name, kind)
            if self.sends_versions and "version" in answer:
                self.known[name] = answer["version"]


@cache
def _handler() -> Any:
    from django.core.handlers.wsgi import WSGIHandler

    return WSGIHandler()


def inputs_of(app: Any) -> dict[str, dict[str, Any]]:
    """Of tools whose answers may be kept at all."""
    return {
        "list_apps": {}, "list_projects": {}, "list_domains": {}, "list_deployments": {}, "list_env_vars": {},
        "get_app_health": {"applicationId": app.pk},
    }  # fmt: skip


def deploy(app: Any) -> None:
    from apps.orgs.models import Deployment

    Deployment.objects.create(organization=app.organization, app=app, title="Deploy", status="succeeded")


def wait_for(is_there: Any) -> None:
    deadline = time.monotonic() + FIRST_ROUND
    while not is_there():
        if time.monotonic() > deadline:
            sys.exit("The worker checks no domains: nothing would be measured.")
        time.sleep(0.5)


def count_runs() -> Counter[str]:
    """Counts, from now on, how often each tool is run."""
    from apps.tools.registry import TOOLS

    ran = Counter[str]()

    def counted(name: str, call: Any) -> Any:
        def run(*arguments: Any) -> Any:
            ran[name] += 1
            return call(*arguments)

        return run

    for name, tool in TOOLS.items():
        tool.call = counted(name, tool.call)  # type: ignore[method-assign]
    return ran


def add_domains(apps: list[Any]) -> None:
    from apps.orgs.models import Domain

    for number, app in enumerate(apps):
        host = HOST.format(number, app.organization.slug)
        Domain.objects.create(organization=app.organization, app=app, host=host, path="/", https=False)


@contextmanager
def worker() -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "worker", "--parent", str(os.getpid())], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def site() -> Iterator[int]:
    """The port of a site that answers everything."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


if __name__ == "__main__":
    main()
