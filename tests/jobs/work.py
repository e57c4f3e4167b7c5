"""What workers do in tests: each writes a line when it begins, and one when it ends, that any process can read."""

import os
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django_tasks import task

from apps.jobs import leases
from tests.patience import patience

gates: dict[str, threading.Event] = defaultdict(threading.Event)


class Diary:
    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def lines(self) -> list[tuple[float, str, str, str]]:
        """When (Unix time), what happened, to which name, in which process."""
        rows = [line.split() for line in self.path.read_text().splitlines()]
        return [(float(at), what, name, pid) for at, what, name, pid in rows]

    def count(self, what: str = "end") -> Counter[str]:
        return Counter(name for _, happened, name, _ in self.lines() if happened == what)

    def most_at_once(self) -> int:
        """Runs of one name."""
        running: Counter[str] = Counter()
        most = 0
        for _, what, name, _ in self.lines():
            running[name] += 1 if what == "begin" else -1
            most = max(most, running[name])
        return most

    def wait_for(self, what: str, names: int) -> None:
        """Until so many different names have it."""
        deadline = time.monotonic() + patience()
        while len(self.count(what)) < names:
            assert time.monotonic() < deadline, self.count(what)
            time.sleep(0.02)


def write(path: str, what: str, name: str) -> None:
    with Path(path).open("a") as file:
        file.write(f"{time.time()} {what} {name} {os.getpid()}\n")


@task
def beat(name: str, path: str, seconds: float = 0.0) -> None:
    write(path, "begin", name)
    if seconds:
        time.sleep(seconds)
    write(path, "end", name)


@task
def hang(name: str, path: str, gate: str) -> None:
    write(path, "begin", name)
    gates[gate].wait(patience())
    write(path, "end", name)


@task
def sleep_in_a_pool(name: str, path: str, seconds: float) -> None:
    """As reading a platform's applications does, which hangs."""
    write(path, "begin", name)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, seconds).result()
    write(path, "end", name)


@task
def wait_beside() -> None:
    gates["beside"].wait(patience())


class Told(Exception):
    sentence = "The platform is asleep."
    retry_after: float | None = None
    is_permanent = False


@task
def break_down(
    canary: str = "", retry_after: float | None = None, is_permanent: bool = False, told: bool = False
) -> None:
    if not told:
        raise ValueError(canary)
    error = Told(canary)
    error.retry_after, error.is_permanent = retry_after, is_permanent
    raise error


@task
def confirm_late(gate: str, path: str) -> None:
    """Writes only if its lease is still its own."""
    write(path, "begin", "late")
    gates[gate].wait(patience())
    leases.confirm()
    write(path, "end", "late")
