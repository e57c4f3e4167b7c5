"""How often an answer is one that is kept: agents that poll, while the worker checks domains as it always does.

    python bin/postgres.py -- python -m benchmarks.polling --output build/bench/polling.json

Calls are made in this process; the worker is another. A call is a hit if its tool was not run.
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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.django_setup import set_up
from benchmarks.servers import ROOT

AGENTS = 4
EVERY = 1.0  # seconds between two calls of one agent and tool
HOST = "app-{}.bench.test"


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
    """`hit_rate` of all calls and of each tool's, and `checks`: how many domains were checked meanwhile."""
    from django.conf import settings
    from django.core.handlers.wsgi import WSGIHandler

    from apps.orgs.models import App, EdgeFact
    from benchmarks import stock
    from benchmarks.in_process import Variant

    logging.disable(logging.CRITICAL)
    stock.fill()
    apps = list(App.objects.filter(organization__slug=stock.SLUG).order_by("pk"))
    add_domains(apps)
    handler, bearer = WSGIHandler(), settings.LOCAL_DEV_BEARER
    # Tools whose answers may be kept at all.
    inputs: dict[str, dict[str, Any]] = {
        "list_apps": {}, "list_projects": {}, "list_domains": {}, "list_deployments": {}, "list_env_vars": {},
        "get_app_health": {"applicationId": apps[0].pk},
    }  # fmt: skip
    polls = {name: Variant(name, f"/api/v1/tools/{name}", handler, bearer, sent) for name, sent in inputs.items()}
    ran, calls = count_runs(), Counter[str]()
    with worker():
        for poll in polls.values():
            poll.call()
        ran.clear()
        began = time.monotonic()
        while (turn := time.monotonic()) < began + seconds:
            for _ in range(AGENTS):
                for name, poll in polls.items():
                    poll.call()
                    calls[name] += 1
            time.sleep(max(0.0, turn + EVERY - time.monotonic()))
    rates = {name: round(1 - ran[name] / number, 4) for name, number in calls.items()}
    checks = EdgeFact.objects.filter(organization__slug=stock.SLUG, checked_at__isnull=False).count()
    return {"hit_rate": round(1 - ran.total() / calls.total(), 4), "by_tool": rates, "domains_checked": checks}


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
        Domain.objects.create(organization=app.organization, app=app, host=HOST.format(number), path="/", https=False)


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
