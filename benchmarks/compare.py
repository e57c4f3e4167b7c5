"""One comparison over HTTP, on the database that DATABASE_URL names: every variant in every round, in changing order.

    python bin/postgres.py -- python -m benchmarks.compare --output build/bench/postgresql.json

What is measured has one core to itself; the load and the database have the other.
"""

import argparse
import base64
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.django_setup import set_up
from benchmarks.servers import OTHER_CORE, ROOT, Server, ask, free_port, move_database

CONNECTIONS = 8
WARM_UP = 1.0  # seconds
MOST_SERVERS = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each variant in each round")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    with set_up():
        options.output.write_text(json.dumps(measured(options.rounds, options.seconds)))


def measured(rounds: int, seconds: float) -> dict[str, Any]:
    from django.conf import settings
    from django.db import connection, connections

    from benchmarks import stock, variants

    stock.fill()
    token, fixed, database = stock.issue_token(), settings.LOCAL_DEV_BEARER, connection.vendor
    if database == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            move_database(cursor.fetchone()[0])
    connections.close_all()
    servers = variants.servers(database, [free_port() for _ in range(MOST_SERVERS)])
    with running(servers, variants.variants(token, fixed, None, database)) as by_name, load() as asking:
        first = ask(by_name["porthole"].port, variants.http(variants.TOOL, token, variants.INPUT))
        version = json.loads(body_of(first)).get("version")
        chosen = variants.variants(token, fixed, version, database)
        sizes = {variant.name: len(body_of(ask(by_name[variant.server].port, variant.request))) for variant in chosen}
        agree({variant.name: ask(by_name[variant.server].port, variant.request) for variant in chosen})
        for variant in chosen:
            asking(by_name[variant.server], variant.request, WARM_UP)
        found: dict[str, list[dict[str, float]]] = {variant.name: [] for variant in chosen}
        for number in range(rounds):
            for variant in random.Random(number).sample(chosen, len(chosen)):
                found[variant.name].append(asking(by_name[variant.server], variant.request, seconds))
            print(f"{database}: round {number + 1} of {rounds}", flush=True)
    what = {variant.name: variant.what for variant in chosen}
    return {"what": what, "bytes": sizes, "rounds": found}


@contextmanager
def running(servers: list[Server], variants: list[Any]) -> Iterator[dict[str, Server]]:
    requests = {variant.server: variant.request for variant in variants}
    used = [server for server in servers if server.name in requests or server.name == "porthole"]
    requests.setdefault("porthole", variants[0].request)
    try:
        for server in used:
            server.start()
        for server in used:
            server.wait(requests[server.name])
        yield {server.name: server for server in used}
    finally:
        for server in used:
            server.stop()


@contextmanager
def load() -> Iterator[Any]:
    """A function that puts load on a server, and tells requests per second, latencies (ms) and CPU (µs a request)."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.load"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    os.sched_setaffinity(process.pid, {OTHER_CORE})
    assert process.stdin
    assert process.stdout
    said, heard = process.stdin, process.stdout

    def asking(server: Server, request: bytes, seconds: float) -> dict[str, float]:
        job = {"port": server.port, "request": base64.b64encode(request).decode(), "seconds": seconds}
        before = server.cpu()
        said.write(json.dumps(job | {"connections": CONNECTIONS}) + "\n")
        said.flush()
        line = heard.readline()
        if not line:
            sys.exit(f"The load on {server.name} has ended: see above.")
        return summed_up(json.loads(line), server.cpu() - before)

    try:
        yield asking
    finally:
        said.close()
        process.wait()


def summed_up(result: dict[str, Any], cpu: float) -> dict[str, float]:
    assert result["answers"], "no answer at all"
    assert not result["failures"], f"{result['failures']} of {result['answers']} answers were no 200"
    latencies, answers, seconds = result["latencies"], result["answers"], result["seconds"]
    return {
        "per_second": answers / seconds, "p50": latencies[len(latencies) // 2],
        "p99": latencies[int(len(latencies) * 0.99)], "cpu": cpu / answers * 1e6, "busy": cpu / seconds,
        "load_busy": result["cpu"] / seconds,
    }  # fmt: skip


def body_of(answer: bytes) -> bytes:
    return answer.partition(b"\r\n\r\n")[2]


def agree(answers: dict[str, bytes]) -> None:
    """All say the same of the same applications, but for how they write times."""
    said = {name: items(json.loads(body_of(answer))) for name, answer in answers.items() if name != "hello"}
    wanted = said["miss"]
    assert len(wanted) == 50, len(wanted)
    for name, found in said.items():
        if name == "unchanged":
            assert found == [], name
        else:
            assert list(map(comparable, found)) == list(map(comparable, wanted)), name


def items(answer: dict[str, Any]) -> list[dict[str, Any]]:
    tool: dict[str, Any] = answer["result"]["structuredContent"] if "jsonrpc" in answer else answer
    found: list[dict[str, Any]] = tool["items"]
    return found


def comparable(item: dict[str, Any]) -> dict[str, Any]:
    """Times to the millisecond, which is what Porthole tells."""
    return item | {name: to_millisecond(item[name]) for name in ("lastDeployedAt", "createdAt")}


def to_millisecond(time: str) -> datetime:
    moment = datetime.fromisoformat(time)
    return moment - timedelta(microseconds=moment.microsecond % 1000)


if __name__ == "__main__":
    main()
