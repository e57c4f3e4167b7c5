"""Servers to measure, each a process tree on one core: starting, asking, CPU and memory, ending."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "build" / "bench" / "bin" / "python"
PATIENCE = 60.0
TICKS = os.sysconf("SC_CLK_TCK")
# Only Linux knows; elsewhere a result can still be read.
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
SERVER_CORE, OTHER_CORE = CORES[0], CORES[-1]  # what is measured; the load and the database


@dataclass
class Server:
    """A command that serves at its port once it is started. `environment` is added to that of this process."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    port: int = 0
    process: "subprocess.Popen[bytes] | None" = None
    started_at: float = 0.0

    def start(self) -> None:
        environment = os.environ | self.environment | {"PORT": str(self.port)}
        log = (ROOT / "build" / "bench" / f"{self.name.replace(' ', '-')}.log").open("wb")
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            [part.format(port=self.port) for part in self.command], cwd=ROOT, env=environment,
            stdout=subprocess.DEVNULL, stderr=log, start_new_session=True,
        )  # fmt: skip
        os.sched_setaffinity(self.process.pid, {SERVER_CORE})  # it has started nothing yet that would not inherit it
        log.close()

    def wait(self, request: bytes, patience: float = PATIENCE) -> float:
        """Seconds from the start to the first answer that is a 200."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and self.process and self.process.poll() is None:
            with suppress(OSError):
                if ask(self.port, request).startswith(b"HTTP/1.1 200"):
                    return time.monotonic() - self.started_at
            time.sleep(0.02)
        sys.exit(f"{self.name} does not answer; build/bench/{self.name.replace(' ', '-')}.log has what it said.")

    def cpu(self) -> float:
        """Seconds that its processes have used."""
        return sum(_cpu_of(pid) for pid in self.pids())

    def pids(self) -> list[int]:
        assert self.process
        return [self.process.pid, *children_of(self.process.pid)]

    def workers(self) -> list[dict[str, float]]:
        """MiB of each worker: `rss`, and `pss`, in which what is shared counts for each in part."""
        return [memory_of(pid) for pid in self.pids()[1:]]

    def stop(self) -> None:
        if self.process:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def move_database(backend: int) -> None:
    """PostgreSQL's processes, of which `backend` is one, go where the load is. One elsewhere is left alone."""
    with suppress(OSError):
        postmaster = int(_stat(backend)[1])
        if "postgres" in Path(f"/proc/{postmaster}/comm").read_text():
            for pid in (postmaster, *children_of(postmaster)):
                os.sched_setaffinity(pid, {OTHER_CORE})


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def ask(port: int, request: bytes) -> bytes:
    """A whole answer, on a connection of its own."""
    from benchmarks.load import Client

    client = Client(port, request)
    client.socket.settimeout(PATIENCE)
    try:
        client.send()
        while not client.read():
            pass
        return client.buffer
    finally:
        client.socket.close()


def _stat(pid: int) -> list[str]:
    """What /proc/PID/stat says after the name: state, parent and so on (proc(5))."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _cpu_of(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / TICKS


def children_of(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def memory_of(pid: int) -> dict[str, float]:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kib = {name.strip().lower(): int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
    return {"rss": kib["rss"] / 1024, "pss": kib["pss"] / 1024}
