"""What reading repositories takes: until the first answer about a large one, and the CPU of a call when it is there.

    python -m benchmarks.repositories --output build/bench/repositories.json [--keep]

A repository of 20,000 commits is served by `git http-backend` over TLS on loopback. The server that fetches and reads
it has one core to itself, git included; the host has the other. CPU is what a call uses above an empty one: a list of
templates, of which the organization has none. No answer is kept; a folder's page is, so a folder is asked for again and
again, and 500 like it in turns.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import results
from benchmarks.django_setup import set_up
from benchmarks.instructions import ask_all
from benchmarks.servers import OTHER_CORE, ROOT, Server, ask, free_port

COMMITS, FILES, ENTRIES, FILE_BYTES = 20_000, 200, 100, 32 * 1024
STARTS = 5
CALLS = 250  # of each kind in a round: the kernel counts CPU in hundredths of a second
WARM_UP = 50
BRANCH, NAME = "main", "bench/large"
COPIES = 500  # of the folder: more pages than are kept in memory, so that one that comes round again is made anew
EMPTY, FILE, FOLDER, NEW_FOLDER = "an empty call", "get_file", "list_files", "list_files, not kept"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--keep", action="store_true", help="put this part into the result that is kept")
    options = parser.parse_args()
    with set_up(), TemporaryDirectory(prefix="porthole-bench-") as folder:
        found = measured(Path(folder), options.rounds)
    options.output.write_text(json.dumps(found))
    if options.keep:
        keep(found)


def keep(found: dict[str, Any]) -> None:
    from benchmarks import page

    kept = json.loads(results.KEPT.read_text()) | {"repositories": found}
    results.KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    page.write()


def measured(folder: Path, rounds: int) -> dict[str, Any]:
    """`first_seconds`, the median and each; `cpu_ms` of each kind of call, above an empty one but for that itself."""
    from django.db import connections

    from benchmarks import stock
    from tests.fakes import certificates
    from tests.fakes.git_remote import GitRemote

    os.sched_setaffinity(0, {OTHER_CORE})
    circumstances = results.circumstances({})
    stock.fill()
    with GitRemote(folder / "host", certificates.context("localhost")) as remote:
        fill(remote.origin(NAME).folder)
        app = application(f"{remote.url}/{NAME}.git")
        requests = requests_for(app, stock.issue_token())
        connections.close_all()
        environment = {
            "SOURCE_NETWORKS": "127.0.0.0/8,::1/128", "EXTRA_CA_CERTS": certificates.authority().decode(),
        }  # fmt: skip
        first = [first_answer(requests, folder / f"data-{number}", environment) for number in range(STARTS)]
        with serving(requests, folder / "data", environment) as server:
            cpu = cpu_of_calls(server, requests, rounds)
    return {
        "date": circumstances["date"], "commit": circumstances["commit"],
        "load_before": circumstances["machine"]["load_before"], "commits": COMMITS,
        "first_seconds": round(median(first), 2), "first_each": [round(it, 2) for it in first], "cpu_ms": cpu,
    }  # fmt: skip


def fill(repository: Path) -> None:
    """20,000 commits on one branch, each of which changes one of 200 files: a few MB."""
    importing = subprocess.Popen(
        ["git", "fast-import", "--quiet"], cwd=repository, stdin=subprocess.PIPE, env=os.environ | {"GIT_DIR": "."}
    )
    assert importing.stdin
    with importing.stdin as stream:
        for piece in commits():
            stream.write(piece)
    assert importing.wait() == 0


def commits() -> Iterator[bytes]:
    small = [f"folder/{number:03}.py" for number in range(ENTRIES)]
    small += [f"src/{number % 9}/{number:03}.py" for number in range(FILES - ENTRIES - 1)]
    yield commit(0, {"code.py": code()} | {path: content(path, 0) for path in small})
    yield commit(1, {}) + b"".join(b"C folder copies/%03d\n" % number for number in range(COPIES))
    for number in range(2, COMMITS):
        path = small[number * 7 % len(small)]
        yield commit(number, {path: content(path, number)})


def commit(number: int, files: dict[str, bytes]) -> bytes:
    head = f"commit refs/heads/{BRANCH}\ncommitter Ada <ada@example.com> {1_700_000_000 + number} +0000\n"
    changes = b"".join(b"M 100644 inline %s\n%s" % (path.encode(), data(text)) for path, text in files.items())
    return head.encode() + data(f"Change number {number}".encode()) + changes


def data(text: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(text), text)


def content(path: str, number: int) -> bytes:
    lines = (f"def function_{line}(value):\n    return value + {line * number}\n" for line in range(8))
    return f"# {path}, change {number}\n{''.join(lines)}".encode()


def code() -> bytes:
    """Ordinary code: our own."""
    files = sorted((ROOT / "apps" / "orgs").glob("*.py"))
    text = "\n".join(file.read_text("utf-8") for file in files).encode("ascii", "replace")
    assert len(text) >= FILE_BYTES
    return text[: FILE_BYTES - 1] + b"\n"


def application(url: str) -> str:
    """The id of an application that is built from there."""
    from apps.orgs.models import App
    from benchmarks.stock import SLUG

    row = App.objects.filter(organization__slug=SLUG).first()
    assert row
    row.source_type, row.repository, row.branch = "git", url, BRANCH
    row.save()
    return str(row.pk)


def requests_for(app: str, token: str) -> dict[str, list[bytes]]:
    """Of each kind, those to send in turns."""
    from benchmarks.variants import http

    def call(tool: str, **inputs: str) -> bytes:
        return http(f"/api/v1/tools/{tool}", token, inputs)

    return {
        EMPTY: [call("list_templates")],
        FILE: [call("get_file", applicationId=app, path="code.py")],
        FOLDER: [call("list_files", applicationId=app, path="folder")],
        NEW_FOLDER: [call("list_files", applicationId=app, path=f"copies/{copy:03}") for copy in range(COPIES)],
    }


@contextmanager
def serving(requests: dict[str, list[bytes]], data_dir: Path, environment: dict[str, str]) -> Iterator[Server]:
    """A server that has just been started, has answered an empty call, and has no mirror."""
    from benchmarks.variants import KEEPS_NOTHING, LOCAL, OURS

    (data_dir / "static").mkdir(parents=True)
    environment = LOCAL | KEEPS_NOTHING | environment | {"DATA_DIR": str(data_dir)}
    server = Server("repositories", [*OURS, "config.wsgi"], environment, free_port())
    try:
        server.start()
        server.wait(requests[EMPTY][0])
        yield server
    finally:
        server.stop()


def first_answer(requests: dict[str, list[bytes]], data_dir: Path, environment: dict[str, str]) -> float:
    with serving(requests, data_dir, environment) as server:
        began = time.monotonic()
        answer = body(ask(server.port, requests[FILE][0]))
        took = time.monotonic() - began
    assert answer["size"] == FILE_BYTES, answer
    assert not answer["isTruncated"]
    return took


def cpu_of_calls(server: Server, requests: dict[str, list[bytes]], rounds: int) -> dict[str, float]:
    assert body(ask(server.port, requests[FILE][0]))["size"] == FILE_BYTES
    for kind in (FOLDER, NEW_FOLDER):
        assert len(body(ask(server.port, requests[kind][0]))["items"]) == ENTRIES
    assert body(ask(server.port, requests[EMPTY][0]))["items"] == []
    turns = {kind: cycle(of_kind) for kind, of_kind in requests.items()}
    for of_kind in turns.values():
        ask_all(server.port, list(islice(of_kind, WARM_UP)))
    used: dict[str, list[float]] = {kind: [] for kind in requests}
    for number in range(rounds):
        for kind in sorted(requests, reverse=bool(number % 2)):
            before = server.cpu()
            ask_all(server.port, list(islice(turns[kind], CALLS)))
            used[kind].append((server.cpu() - before) / CALLS * 1000)
    above = {
        kind: median(mine - empty for mine, empty in zip(used[kind], used[EMPTY], strict=True))
        for kind in requests if kind != EMPTY
    }  # fmt: skip
    return {kind: round(it, 2) for kind, it in ({EMPTY: median(used[EMPTY])} | above).items()}


def body(answer: bytes) -> dict[str, Any]:
    head, _, content = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        sys.exit(f"No answer: {answer.decode()}")
    found: dict[str, Any] = json.loads(content)
    return found


if __name__ == "__main__":
    main()
