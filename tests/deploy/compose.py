"""Somebody who types the commands of docs/containers.md, and what they meet: containers, and answers by https."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from tests.deploy.engine import Engine
from tests.deploy.machine import ROOT
from tests.deploy.steps import Failed

PAGE = ROOT / "docs/containers.md"
NAME = "porthole.example.com"
EMAIL, PASSWORD = "you@example.com", "correct horse battery staple"
PROJECT = "porthole-check"
ADDRESS = "127.0.0.1:8333"
CA = "/data/caddy/pki/authorities/local/root.crt"
PATIENCE = 90  # seconds


def commands(heading: str, first: str = "") -> list[str]:
    """Those of a section of the page: of its first block, or of the one that begins with `first`."""
    section = PAGE.read_text().partition(f" {heading}\n")[2]
    blocks = re.findall(r"^ *```(?:console|sh)\n(.*?)^ *```", section, re.DOTALL | re.MULTILINE)
    block = next(block for block in blocks if first in block)
    return [line.strip().removeprefix("$ ") for line in block.splitlines() if line.strip()]


class Newcomer:
    """Types the page's commands into a shell, in a folder of their own, on a machine that has `engine`."""

    def __init__(self, folder: Path, here: Engine, settings: dict[str, str]) -> None:
        self.here, self.folder, self.cwd = here, folder, folder
        project = {"COMPOSE_PROJECT_NAME": PROJECT, "PORTHOLE_IMAGE": PROJECT}
        own = {"HTTPS_PORT": ADDRESS, "HTTP_PORT": "127.0.0.1:8334", "PORTHOLE_TLS": "tls internal"}
        self.environment = os.environ | here.environment | project | own | settings

    def run(self, line: str, text: str = "") -> str:
        line = re.sub(r"\bdocker compose\b", shlex.join(self.here.compose), line)
        line = re.sub(r"\bdocker (?=build)", f"{shlex.join(self.here.docker)} ", line)
        finished = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"{line}\nstatus=$?; pwd >{self.folder}/cwd; exit $status"], cwd=self.cwd,
            env=self.environment, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        self.cwd = Path((self.folder / "cwd").read_text().strip())
        if finished.returncode:
            raise Failed(f"{line}\n{finished.stdout[-6000:]}\n{self.logs()}")
        return finished.stdout

    def compose(self, line: str, text: str = "") -> str:
        return self.run(f"docker compose {line}", text)

    def logs(self) -> str:
        words = [*self.here.compose, "logs", "--tail=30"]
        said = subprocess.run(words, cwd=self.cwd, env=self.environment, capture_output=True, text=True, check=False)
        return said.stdout

    def id(self, service: str) -> str:
        return self.compose(f"ps -q {service}").strip()

    def inspect(self, service: str, template: str) -> str:
        return self.here.run("inspect", "--format", template, self.id(service))

    def is_on(self, service: str, state: str, seconds: float = PATIENCE) -> str:
        """Waits until the health or the status of a container is so."""
        deadline = time.monotonic() + seconds
        while self.inspect(service, f"{{{{.State.{state.partition('=')[0]}}}}}") != state.partition("=")[2]:
            if time.monotonic() > deadline:
                raise Failed(f"{service} is not {state}:\n{self.inspect(service, '{{json .State}}')}\n{self.logs()}")
            time.sleep(0.5)
        return ""


def token_of(newcomer: Newcomer) -> str:
    trust_caddy(newcomer)
    words = [sys.executable, str(ROOT / "tests/deploy/newcomer.py"), f"https://{NAME}", EMAIL]
    words += ["--connect-to", ADDRESS, "--ca", str(newcomer.folder / "root.crt")]
    got = subprocess.run(words, input=f"{PASSWORD}\n", text=True, capture_output=True, check=False)
    if got.returncode:
        raise Failed(f"No token: {got.stdout}{got.stderr}\n{newcomer.logs()}")
    return got.stdout.strip()


def trust_caddy(newcomer: Newcomer) -> None:
    """Its own authority is made at its first start, a moment after it runs."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            newcomer.here.run("cp", f"{newcomer.id('caddy')}:{CA}", str(newcomer.folder / "root.crt"))
            return
        except Failed:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def asks(newcomer: Newcomer, token: str) -> str:
    """A 200 for a tool, over https, from a certificate that is verified."""
    answer = newcomer.run(
        f"curl -sS --fail-with-body --cacert {newcomer.folder}/root.crt --connect-to {NAME}:443:{ADDRESS}"
        f" -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d '{{}}'"
        f" https://{NAME}/api/v1/tools/get_account -w '\\n%{{http_code}}\\n'"
    )
    body, _, status = answer.strip().rpartition("\n")
    if status != "200" or json.loads(body)["organization"]["slug"] != "acme":
        raise Failed(answer)
    return answer
