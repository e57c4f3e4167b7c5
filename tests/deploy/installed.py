"""What make install put on a machine: the units of it, and how people reach it by https."""

import signal
import subprocess
import sys
import time

from tests.deploy.machine import ROOT, Machine
from tests.deploy.steps import Failed
from tests.deploy.units import Unit, read

NAME = "porthole.example.com"
EMAIL, PASSWORD = "ops@example.com", "correct horse battery staple"
CADDYS_CA = "/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt"
TOOL = "/api/v1/tools/get_account"


def units(here: Machine) -> list[Unit]:
    """The server's, the worker's, and Caddy's where it is installed."""
    folder = here.root / "etc/systemd/system"
    caddy = here.root / "lib/systemd/system/caddy.service"
    ours = [read(folder / f"porthole-{name}.service") for name in ("web", "worker")]
    return [*ours, read(caddy)] if caddy.exists() else ours


def start(here: Machine, unit: Unit) -> None:
    here.running[unit.name] = here.start(unit)


def stop(here: Machine, unit: Unit) -> float:
    """As systemctl stop: SIGTERM to the first process, and it has ended by itself in time. Seconds."""
    process, begun = here.running.pop(unit.name), time.monotonic()
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(unit.seconds_to_stop())
    except subprocess.TimeoutExpired:
        raise Failed(f"{unit.name} had to be killed.") from None
    return time.monotonic() - begun


def call(here: Machine, path: str, token: str = "", ca: str = CADDYS_CA, patience: float = 30) -> str:
    """A page by https through the proxy; waits until it is 200."""
    header = f"-H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d '{{}}'" if token else ""
    line = f"curl -sS --fail-with-body --cacert {ca} --resolve {NAME}:443:127.0.0.1 {header} https://{NAME}{path}"
    deadline = time.monotonic() + patience
    while (answer := here.try_(line)).returncode:
        if time.monotonic() > deadline:
            raise Failed(f"{line}\n{answer.stdout}\n{logs(here)}")
        time.sleep(0.2)
    return str(answer.stdout)


def logs(here: Machine) -> str:
    return "\n".join(f"{unit.name}:\n{here.log(unit).read_text()[-3000:]}" for unit in units(here))


def token_of(here: Machine, ca: str = CADDYS_CA) -> str:
    """As a person gets it, in a browser."""
    words = [*here.network, sys.executable, str(ROOT / "tests/deploy/newcomer.py"), f"https://{NAME}", EMAIL]
    words += ["--connect-to", "127.0.0.1:443", "--ca", str(here.root / ca.lstrip("/"))]
    got = subprocess.run(words, input=f"{PASSWORD}\n", text=True, capture_output=True, check=False)
    if got.returncode:
        raise Failed(f"No token: {got.stdout}{got.stderr}\n{logs(here)}")
    return got.stdout.strip()
