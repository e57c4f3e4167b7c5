"""Programs that are spoken to in lines of JSON, over their standard input and output."""

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any, Self

from tests.mcp_clients.browser import Browser
from tests.patience import patience


class Program:
    """While it is listened to, its user's browser goes where it is sent."""

    def __init__(
        self, command: Sequence[str | Path], around: Mapping[str, str], home: Path, browser: Browser | None = None
    ) -> None:
        self.browser = browser
        self.errors = home / "stderr"
        self.unread = b""
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command, env=around, cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def say(self, message: Mapping[str, Any]) -> None:
        self.type_line(json.dumps(message))

    def type_line(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next line."""
        while b"\n" not in self.unread:
            assert self._read(), f"It ended: {self.errors.read_text()}"
        line, _, self.unread = self.unread.partition(b"\n")
        heard: dict[str, Any] = json.loads(line)
        return heard

    def read_all(self) -> tuple[bytes, int]:
        """What it says until it ends, and how it ends."""
        while self._read():
            pass
        return self.unread, self.process.wait(patience())

    def _read(self) -> bool:
        """Whether there was more to read."""
        assert self.process.stdout
        until = time.monotonic() + patience()
        with DefaultSelector() as selector:
            selector.register(self.process.stdout, EVENT_READ)
            if self.browser:
                selector.register(self.browser, EVENT_READ)
            while True:
                ready = selector.select(until - time.monotonic())
                assert ready, f"It says nothing any more: {self.errors.read_text()}"
                if any(key.fileobj is self.browser for key, _ in ready):
                    assert self.browser
                    self.browser.let_in()
                    continue
                some = self.process.stdout.read1()  # type: ignore[attr-defined]
                self.unread += some
                return bool(some)
