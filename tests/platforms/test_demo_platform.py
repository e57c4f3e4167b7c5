"""make demo-platform: its fakes tell what a newcomer is to see, and the whole of it starts, changes and ends."""

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from apps.net.connect_to import connect_to
from apps.orgs.certificates import certificate_status
from apps.platforms.edge.probe import Prober
from apps.platforms.edge.targets import Outcome, Target
from tests.config.server import LOCAL, free_port, start
from tests.fakes import certificates, demo
from tests.fakes.demo import BREAKS, EXPIRES, EXPIRING, Demo
from tests.patience import patience


def test_a_newcomer_sees_certificates_expire_and_a_site_break(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "SECONDS_LEFT", -1)
    monkeypatch.setattr(demo, "PERIOD", 0.1)
    authority = certificates.write_authority(tmp_path)
    ended = Event()
    with Demo() as it:
        entry = connect_to(f"*.acme.example:443=127.0.0.1:{it.places['sites_port']}")
        prober = Prober((), authorities=authority, connect_to=[entry])
        targets = [Target(it.host(n), it.host(n), "/", True, 443) for n in (0, EXPIRING, EXPIRES, BREAKS)]
        outcomes = prober.probe(targets)
        assert [status_of(outcome) for outcome in outcomes] == ["valid", "expiring", "expired", "valid"]
        assert [outcome.http_status for outcome in outcomes] == [200, 200, 200, 200]
        it.sites.broken = {it.host(BREAKS)}
        assert [outcome.http_status for outcome in prober.probe(targets)] == [200, 200, 200, 503]
        Thread(target=it.keep_changing, args=(ended,)).start()
        ended.set()


def status_of(outcome: Outcome) -> str:
    assert outcome.certificate is not None
    columns = {"edge__tls_not_after": outcome.certificate.not_after, "edge__tls_is_valid": outcome.is_verified}
    return certificate_status(columns, certificates.NOW)


# The whole


@pytest.mark.soak
@pytest.mark.process
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_its_answers_change_within_a_minute_and_it_ends_with_all_its_processes(tmp_path: Path, end: int) -> None:
    ports = {"PORT": str(free_port()), "DEMO_PLATFORM_PORT": str(free_port())}
    process = start("bin/demo_platform.py", env=LOCAL | ports | {"DATA_DIR": str(tmp_path), "WEB_CONCURRENCY": "1"})
    try:
        apps = wait_for(lambda: ask(ports["PORT"], "list_apps", limit=50)["items"])
        assert len(apps) == 21
        first = statuses(ports["PORT"])
        wait_for(lambda: statuses(ports["PORT"]) != first, seconds=60)
        (expiring,) = [app["id"] for app in apps if app["name"] == f"Shop {EXPIRING + 1}"]
        reasons = wait_for(lambda: expires(ask(ports["PORT"], "get_app_health", applicationId=expiring)), seconds=90)
        assert re.search(r"The certificate of .* expires on", reasons)
    finally:
        os.killpg(process.pid, end) if end == signal.SIGINT else process.terminate()
        began = time.monotonic()
        process.communicate(timeout=patience())  # to the end of all: they write to the same streams
    assert time.monotonic() - began < 10


def statuses(port: str) -> dict[str, str]:
    return {app["name"]: app["status"] for app in ask(port, "list_apps", limit=50)["items"]}


def expires(health: dict[str, Any]) -> str:
    return "".join(reason for reason in health["reasons"] if "expires" in reason)


def ask(port: str, tool: str, **arguments: Any) -> Any:
    headers = {"Authorization": "Bearer porthole-local-dev", "Content-Type": "application/json"}
    body = json.dumps(arguments).encode()
    with urlopen(Request(f"http://localhost:{port}/api/v1/tools/{tool}", body, headers), timeout=10) as answer:
        return json.load(answer)


def wait_for(see: Callable[[], Any], seconds: float | None = None) -> Any:
    deadline = time.monotonic() + (seconds or patience())
    while time.monotonic() < deadline:
        try:
            if seen := see():
                return seen
        except URLError:  # it does not answer yet
            pass
        time.sleep(0.5)
    raise AssertionError("Nothing changed.")
