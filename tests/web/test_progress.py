"""How far long work has got, as commands show it on standard error."""

import io
from typing import Any

import pytest
from django.core.management.base import OutputWrapper

from apps.web.management import progress_line
from apps.web.management.progress_line import ERASE, progress_shown
from apps.web.progress import tell


class Stream(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds. What is written then is red, as a command's errors are."""
    now = [1000.0]
    monkeypatch.setattr(progress_line.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return now


def shown(is_terminal: bool, clock: list[float], pauses: list[float], **words: Any) -> str:
    """What a stream has when something is told after each of the pauses (seconds)."""
    stream = Stream(is_terminal)
    wrapper = OutputWrapper(stream)
    wrapper.style_func = lambda text: f"\x1b[31m{text}\x1b[0m"
    with progress_shown(wrapper):
        for number, pause in enumerate(pauses, 1):
            clock[0] += pause
            tell(words.get("step", "Reading"), number * 1000, 20_000, "rows")
    return stream.getvalue()


def test_a_terminal_has_one_line_which_is_gone_in_the_end(clock: list[float]) -> None:
    said = shown(True, clock, [0.2, 0.2])
    assert said == f"{ERASE}Reading: 1,000 of 20,000 rows{ERASE}Reading: 2,000 of 20,000 rows{ERASE}"


def test_a_line_never_breaks(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert shown(True, clock, [0.2]) == f"{ERASE}Reading: 1,000 of 2{ERASE}"


def test_what_is_told_at_once_is_not_drawn_at_once(clock: list[float]) -> None:
    assert shown(True, clock, [0.01] * 9) == ""
    assert shown(True, clock, [0.01] * 15).count("Reading") == 1


def test_a_pipe_has_a_line_now_and_then_and_short_work_none(clock: list[float]) -> None:
    assert shown(False, clock, [1] * 29) == ""
    assert shown(False, clock, [1] * 61) == "Reading: 30,000 of 20,000 rows\nReading: 60,000 of 20,000 rows\n"


def test_a_terminal_that_can_erase_nothing_is_like_a_pipe(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert shown(True, clock, [0.2]) == ""


def test_the_line_is_erased_when_work_fails(clock: list[float]) -> None:
    stream = Stream(is_terminal=True)
    line = progress_shown(OutputWrapper(stream))
    line.__enter__()
    clock[0] += 1
    tell("Reading", 1, 2, "rows")
    line.__exit__(ValueError, ValueError(), None)
    assert stream.getvalue().endswith(f"rows{ERASE}")


def test_nobody_watches_afterwards(clock: list[float]) -> None:
    stream = Stream(is_terminal=True)
    with progress_shown(OutputWrapper(stream)):
        pass
    clock[0] += 1
    tell("Reading", 1, 2, "rows")
    assert stream.getvalue() == ""
