"""Examples in the documentation: finding them, running them, and comparing answers with what is shown."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from textwrap import dedent
from typing import Any

from tests.config.server import BASE_DIR, environment
from tests.patience import patience

HOST = "http://localhost:8000"
REST = "…"
FENCE = re.compile(r"^( *)```(\w+)(.*)\n((?:.*\n)*?)\1```$", re.MULTILINE)
DATE = re.compile(r"\d{4}-\d\d-\d\d(?=T\d\d:)")


@dataclass(frozen=True)
class Block:
    """A fenced block: ```language info. `gap` is what stands between the block before and this one."""

    place: str
    language: str
    info: str
    text: str
    gap: str

    @property
    def is_run(self) -> bool:
        wanted = self.language == "python" or (self.language == "sh" and "curl" in self.text and HOST in self.text)
        return wanted and not self.info.startswith("notest")


def text_of(name: str) -> str:
    return (BASE_DIR / name).read_text(encoding="utf-8")


def blocks_of(name: str) -> Iterator[Block]:
    text, end = text_of(name), 0
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(f"{name}:{line}", found[2], found[3].strip(), dedent(found[4]), text[end : found.start()].strip())
        end = found.end()


@dataclass(frozen=True)
class Demo:
    """A server with the demo, whose times were moved by so many days."""

    port: int
    days: int

    def moved(self, text: str) -> str:
        return DATE.sub(lambda day: (date.fromisoformat(day[0]) + timedelta(self.days)).isoformat(), text)

    def run(self, block: Block, shell: str = "bash") -> str:
        """What it prints. In dash, which has no pipefail, only the end of a pipe can fail."""
        in_shell = [shell, "-c"] if shell == "dash" else [shell, "-o", "pipefail", "-c"]
        command = in_shell if block.language == "sh" else [sys.executable, "-c"]
        script = self.moved(block.text).replace(HOST, f"http://localhost:{self.port}")
        done = subprocess.run(
            [*command, script], env=environment({}), capture_output=True, text=True, timeout=patience(), check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), f"{block.place}: {done.stderr or done.stdout}"
        return done.stdout.replace(f"http://localhost:{self.port}", HOST)


def differences(expected: Any, actual: Any, demo: Demo, where: str = "answer") -> list[str]:
    """Where an answer is not what the documentation shows, in which … stands for anything."""
    match expected:
        case str() if expected.endswith(REST):
            begins = isinstance(actual, str) and actual.startswith(expected.removesuffix(REST))
            return [] if expected == REST or begins else [f"{where}: {actual!r} is not {expected!r}"]
        case dict() if isinstance(actual, dict):
            names = expected.keys() - {REST, "requestId"}
            too_many = [] if REST in expected else sorted(actual.keys() - expected.keys())
            problems = [f"{where}.{name} is not shown" for name in too_many]
            problems += [f"{where}.{name} is missing" for name in sorted(names - actual.keys())]
            inner = [
                differences(expected[name], actual[name], demo, f"{where}.{name}") for name in names & actual.keys()
            ]
            return problems + [problem for each in inner for problem in each]
        case list() if isinstance(actual, list):
            shown = expected[:-1] if expected[-1:] == [REST] else expected
            if len(actual) < len(shown) or (len(actual) > len(shown) and shown is expected):
                return [f"{where} has {len(actual)} items, not {len(shown)}"]
            pairs = enumerate(zip(shown, actual, strict=False))
            return [problem for i, (a, b) in pairs for problem in differences(a, b, demo, f"{where}[{i}]")]
    either = [expected, demo.moved(expected)] if isinstance(expected, str) else [expected]
    return [] if json.dumps(actual) in map(json.dumps, either) else [f"{where}: {actual!r} is not {expected!r}"]


def fits(expected: str, actual: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in expected.strip().split(REST))
    return re.fullmatch(pattern, actual.replace("\r", "").strip(), re.DOTALL) is not None
