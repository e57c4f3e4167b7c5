"""Steps of the scripts here: each is printed with its seconds once it is done, and by name where it is left out."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

LEFT_OUT = "PORTHOLE_DEPLOY_LEFT_OUT"  # the file in which a script tells it to whoever runs several (__main__.py)
T = TypeVar("T")


class Failed(Exception):
    """A step went wrong; the words say which and how."""


done: list[str] = []
left_out: list[str] = []


def step(what: str, act: Callable[[], T]) -> T:
    start = time.monotonic()
    result = act()
    done.append(what)
    print(f"  ok {time.monotonic() - start:6.1f} s  {what}", flush=True)
    return result


def leave_out(what: str) -> None:
    left_out.append(what)
    print(f"  --  LEFT OUT  {what}", flush=True)
    if file := os.environ.get(LEFT_OUT):
        with Path(file).open("a") as told:
            told.write(f"{what}\n")


def since(start: float) -> str:
    """Seconds since that moment of time.monotonic(), and how busy the machine was."""
    return f"{time.monotonic() - start:.0f} s (load {os.getloadavg()[0]:.1f})"


def summary() -> str:
    return f"{len(done)} steps done, {len(left_out)} left out."
