"""Instructions that a server takes for one answer, counted by valgrind: the same whatever else the machine does.

    python bin/postgres.py -- python -m benchmarks.instructions --output build/bench/instructions.json

Each server of the comparison runs under callgrind by itself, which counts only while requests come. What the database
and the kernel do is in no figure.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from re import MULTILINE, search
from tempfile import TemporaryDirectory

from benchmarks.compare import body_of
from benchmarks.django_setup import set_up
from benchmarks.load import Client
from benchmarks.servers import ROOT, Server, ask, free_port
from benchmarks.variants import INPUT, TOOL, Variant, http, servers, variants

CALLS = 20
WARM_UP = 30  # four threads or eight connections make what each keeps
PATIENCE = 300.0  # a program is up to fifty times as slow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args().output
    if not shutil.which("valgrind") and subprocess.call(["bin/debian-packages", "valgrind"], cwd=ROOT):
        sys.exit("Counting instructions needs valgrind. On Debian and Ubuntu: apt-get install valgrind")
    with set_up():
        output.write_text(json.dumps(measured()))


def measured() -> dict[str, int]:
    """Of each variant the thousands of instructions of one answer."""
    from django.conf import settings
    from django.db import connection, connections

    from benchmarks import stock

    stock.fill()
    token, database = stock.issue_token(), connection.vendor
    connections.close_all()
    found: dict[str, int] = {}
    version = None
    for server in servers(database, [free_port() for _ in range(10)]):
        with TemporaryDirectory(prefix="porthole-bench-") as folder:
            start(server, Path(folder))
            try:
                asked = variants(token, settings.LOCAL_DEV_BEARER, None, database)
                server.wait(next(it.request for it in asked if it.server == server.name), PATIENCE)
                if server.name == "porthole":
                    version = json.loads(body_of(ask(server.port, http(TOOL, token, INPUT)))).get("version")
                asked = variants(token, settings.LOCAL_DEV_BEARER, version, database)
                for it in asked:
                    if it.server == server.name:
                        found[it.name] = counted(server, it, Path(folder))
                        print(f"instructions: {it.name}", flush=True)
            finally:
                server.stop()
    return found


def start(server: Server, folder: Path) -> None:
    # One seed of hashes: sets and dicts are walked alike in every run.
    server.environment = server.environment | {"PYTHONHASHSEED": "0"}
    server.command = [
        "valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/%p", "--quiet",
        *("benchmarks.unforked" if part == "gunicorn" else part for part in server.command),
    ]  # fmt: skip
    server.start()


def counted(server: Server, variant: Variant, folder: Path) -> int:
    ask_all(server.port, [variant.request] * WARM_UP)
    assert server.process
    before = set(folder.iterdir())
    tell(server.process.pid, "--instr=on")
    ask_all(server.port, [variant.request] * CALLS)
    tell(server.process.pid, "--dump")
    tell(server.process.pid, "--instr=off")
    dumps = [file.read_text() for file in set(folder.iterdir()) - before]
    totals = [int(found[1]) for dump in dumps if (found := search(r"^totals: (\d+)", dump, MULTILINE))]
    assert totals, f"callgrind wrote nothing about {variant.name}"
    return round(max(totals) / CALLS / 1000)


def ask_all(port: int, requests: Sequence[bytes]) -> None:
    """One after the other, on one connection."""
    client = Client(port, requests[0])
    for client.request in requests:
        client.send()
        while not client.read():
            pass
    assert not client.failures
    client.socket.close()


def tell(pid: int, what: str) -> None:
    subprocess.run(["callgrind_control", what, str(pid)], check=True, capture_output=True)


if __name__ == "__main__":
    main()
