"""Shows how far a command has got: at a terminal a line that is updated, elsewhere a line now and then."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from apps.web.progress import watched_by

AT_A_TERMINAL = 0.1  # seconds between two looks of the line
ELSEWHERE = 30.0  # in a pipe or a log nobody waits for them, and short work needs none
ERASE = "\r\x1b[K"


class ProgressLine:
    """`stream`: a command's standard error. What a terminal shows is gone in the end; lines elsewhere stay."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.pause = AT_A_TERMINAL if self.is_terminal else ELSEWHERE
        self.last = time.monotonic()
        self.is_shown = False

    def show(self, step: str, done: int, of: int, unit: str) -> None:
        if time.monotonic() - self.last < self.pause:
            return
        self.last = time.monotonic()
        line = f"{step}: {done:,} of {of:,} {unit}"
        if self.is_terminal:
            self.is_shown = True
            # One character less than fits: some terminals begin a new line after the last.
            line = ERASE + line[: shutil.get_terminal_size().columns - 1]
        self._write(line, "" if self.is_terminal else "\n")

    def erase(self) -> None:
        if self.is_shown:
            self._write(ERASE, "")

    def _write(self, text: str, ending: str) -> None:
        self.stream.write(text, str, ending)  # as it is: what else a command says there are errors, in red
        self.stream.flush()


@contextmanager
def progress_shown(stream: Any) -> Iterator[None]:
    """While it lasts, `stream` (a command's `stderr`) shows what is told."""
    line = ProgressLine(stream)
    try:
        with watched_by(line.show):
            yield
    finally:
        line.erase()
