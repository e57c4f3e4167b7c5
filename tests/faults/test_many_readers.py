"""Many processes read one mirror while others refresh it, and while those that fetch are killed: no answer is torn."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from tests.config.server import BASE_DIR, LOCAL, environment
from tests.fakes import certificates
from tests.fakes.git_remote import GitRemote, Handler
from tests.faults.git_servers import children_of
from tests.faults.reading import files_of
from tests.sources.git.origins import Origin

pytestmark = [pytest.mark.soak, pytest.mark.process]
NAME = "acme/shop"
READERS, REFRESHERS = 8, 2
SECONDS = float(os.environ.get("READ_SECONDS", "60"))
KILLS = 20
# Of a run that failed, to see it again as far as the machine's own pace lets it be.
SEED = int(os.environ.get("KILL_SEED") or random.SystemRandom().randrange(2**32))
LEFTOVERS = ("new-*", "next", "*/*.lock", "*/*.new", "*/objects/tmp_*", "*/objects/*/tmp_*", "*/refs/**/*.lock")


@dataclass
class Host:
    """A repository that has another commit several times a second, and processes that have a mirror of it."""

    remote: GitRemote
    origin: Origin
    data: Path
    number: int = 0
    pause: float = 0.2
    rest: bytes = b""
    is_over: threading.Event = field(default_factory=threading.Event)
    rests: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"{self.remote.url}/{NAME}.git"

    def commit(self) -> None:
        files = files_of(self.number + 1)
        # What takes longer to send: new in each commit, and never larger than what is kept.
        files |= {f"rest-{place}": os.urandom(len(self.rest)) for place in range(3) if self.rest}
        self.origin.commit(files)
        self.number += 1

    def commit_always(self) -> None:
        while not self.is_over.wait(self.pause):
            with self.rests:
                self.commit()

    def start(self, what: str, number: float = 0, **env: str) -> "subprocess.Popen[str]":
        trusted = {"SOURCE_NETWORKS": "127.0.0.0/8,::1/128", "EXTRA_CA_CERTS": certificates.authority().decode()}
        return subprocess.Popen(
            [sys.executable, "-m", "tests.faults.reading", what, self.url, str(number)],
            cwd=BASE_DIR, env=environment(LOCAL | trusted | {"DATA_DIR": str(self.data)} | env), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def mirror(self) -> Path:
        """Its folder."""
        (lock,) = (self.data / "mirrors").glob("*/lock")
        return lock.parent


@contextmanager
def host(databases: Path, folder: Path) -> Iterator[Host]:
    data = folder / "data"
    data.mkdir()
    shutil.copy(databases / "organizations.sqlite3", data / "porthole.sqlite3")
    with GitRemote(folder / "host", certificates.context("localhost")) as remote:
        made = Host(remote, remote.origin(NAME), data)
        made.commit()
        thread = threading.Thread(target=made.commit_always)
        thread.start()
        try:
            yield made
        finally:
            made.is_over.set()
            thread.join()


def heard(process: "subprocess.Popen[str]") -> dict:
    """The next line that a process says."""
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        pytest.fail(process.communicate()[1])
    return json.loads(line)


def tell(process: "subprocess.Popen[str]") -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def run(host: Host, what: str, number: float, **env: str) -> dict:
    process = host.start(what, number, **env)
    try:
        assert heard(process) == "ready"
        tell(process)
        return heard(process)
    finally:
        end(process)


def end(process: "subprocess.Popen[str]") -> None:
    """With git, which has a session of its own."""
    if process.poll() is None:
        kill([process.pid, *descendants(process.pid)])
    process.communicate()


def descendants(pid: int) -> list[int]:
    found = []
    with suppress(OSError):
        for child in children_of(pid):
            found += [child, *descendants(child)]
    return found


def kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_64_threads_read_while_two_processes_refresh(databases: Path, tmp_path: Path) -> None:
    with host(databases, tmp_path) as made:
        assert run(made, "fetch", made.number)["failures"] == 0
        processes = [made.start("read", SECONDS) for _ in range(READERS)]
        processes += [made.start("refresh", SECONDS) for _ in range(REFRESHERS)]
        try:
            for process in processes:
                assert heard(process) == "ready"
            for process in processes:
                tell(process)
            told = [heard(process) for process in processes]
        finally:
            for process in processes:
                end(process)
        readers, refreshers = told[:READERS], told[READERS:]
        errors = sum((Counter(reader["errors"]) + Counter(reader["wrong"]) for reader in readers), Counter())
        generations = set().union(*(reader["generations"] for reader in readers))
        numbers = max(reader["numbers"] for reader in readers)
        print(f"\n{sum(reader['answers'] for reader in readers)} answers of {numbers} commits, ", end="")  # noqa: T201
        print(f"{made.number} commits were made; {len(generations)} generations; {refreshers}")  # noqa: T201
    assert errors == {}
    assert [refresher["failures"] for refresher in refreshers] == [0, 0]
    assert numbers > SECONDS / 6
    assert len(generations) > SECONDS / 30
    assert min(reader["answers"] for reader in readers) > SECONDS


def slowly(handler: Handler) -> None:
    """A host far away: a fetch is killed while packs arrive, as often as before and after."""
    handler.answer = partial(answer_slowly, handler)
    handler._git()


def answer_slowly(handler: Handler, status: int, headers: dict[str, str], body: bytes = b"") -> None:
    Handler.answer(handler, status, headers | {"Content-Length": str(len(body))})
    with suppress(OSError):  # whoever asked was killed
        for start in range(0, len(body), 65536):
            handler.wfile.write(body[start : start + 65536])
            time.sleep(0.01)


def test_processes_that_are_killed_while_they_fetch_leave_a_mirror_that_is_served(
    databases: Path, tmp_path: Path
) -> None:
    """The process alone, whose git goes on without it, or with everything that it has started."""
    print(f"\nKILL_SEED={SEED}")  # noqa: T201
    chance, cut = random.Random(SEED), Counter[str]()
    with host(databases, tmp_path) as made:
        made.rest, made.pause = bytes(300_000), 0.3
        made.remote.behaviour[NAME] = slowly
        assert run(made, "fetch", made.number)["failures"] == 0
        looking = made.start("look")
        try:
            assert heard(looking) == "ready"
            tell(looking)
            for number in range(KILLS):
                is_first = number % 5 == 4
                if is_first:
                    shutil.rmtree(made.mirror())
                kill_one(made, chance, cut, is_first=is_first)
                check_mirror(made, looking, is_first=is_first)
        finally:
            end(looking)
    print(dict(cut))  # noqa: T201
    assert cut["while git ran"] > KILLS / 3


def kill_one(made: Host, chance: random.Random, cut: Counter[str], *, is_first: bool) -> None:
    process = made.start("fetch" if is_first else "refresh", 1e9, MAX_PACKS="3")
    assert heard(process) == "ready"
    tell(process)
    time.sleep(chance.uniform(0.05, 0.4 if is_first else 1.5))
    os.kill(process.pid, signal.SIGSTOP)
    git = descendants(process.pid)
    cut["while git ran" if git else "between"] += 1
    is_alone = chance.random() < 0.5
    cut["alone" if is_alone else "with git"] += 1
    kill([process.pid] if is_alone else [process.pid, *git])
    process.communicate()


def check_mirror(made: Host, looking: "subprocess.Popen[str]", *, is_first: bool) -> None:
    before = None
    if not is_first:
        tell(looking)
        before = heard(looking)
        assert "number" in before, before
    with made.rests:  # nothing new until that is fetched
        fetched = run(made, "fetch", made.number)
        assert fetched == {"number": made.number, "failures": 0}, before
        folder = made.mirror()
        assert [path for pattern in LEFTOVERS for path in folder.glob(pattern)] == []
        assert len(list(folder.glob("g-*"))) <= 2
        tell(looking)
        assert heard(looking) == {"number": made.number}
