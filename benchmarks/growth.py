"""What ten million deployments cost against ten thousand: every tool, tokens, a sync and the lists of the admin.

    python bin/postgres.py -- python -m benchmarks.growth [--keep]

Fills two databases with `load_synthetic`, which takes a quarter of an hour, and then asks both the same in turn. Where
DATABASE_URL names a server on which the two are from another time, they are asked again. What is timed is the work of
the process that is asked, and of its database server.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from itertools import chain
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from benchmarks.growth_page import GROWTH, GROWTH_OF_P99, KINDS
from benchmarks.results import GROWTH as KEPT
from benchmarks.results import circumstances
from benchmarks.servers import ROOT
from benchmarks.variants import KEEPS_NOTHING, LOCAL

SMALL = {"organizations": 10, "apps": 1000, "deployments": 10_000, "tokens": 5000, "largest": 100}
ROUNDS = 4
TIMES, TIMES_OF_OTHERS = 100, 25  # of each round, of calls of tools and of what else is asked
LONG = 0.2  # seconds: what takes longer is asked once a round


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1000, help="how many times as many rows the large database has")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="calls with this in their name")
    parser.add_argument("--keep", action="store_true", help="write the result to benchmarks/results")
    options = parser.parse_args()
    databases = [database(name, times) for name, times in (("growth_small", 1), ("growth_large", options.times))]
    result = circumstances(vars(options)) | {"rows": SMALL, "loaded_in": [it["took"] for it in databases]}
    result |= {"sizes": sizes_of(databases[1]["url"])}
    result |= {"calls": measured([it["url"] for it in databases], options.rounds, options.only)}
    if options.keep:
        KEPT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def database(name: str, times: int) -> dict[str, Any]:
    """A filled database of that name on the server that DATABASE_URL names, and the seconds it took to fill it."""
    server = urlsplit(os.environ["DATABASE_URL"])
    url, took = urlunsplit(server._replace(path=f"/{name}")), None
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            return {"url": url, "took": took}
        connection.execute(f"CREATE DATABASE {name}")
        # What parallel workers do would not be counted.
        connection.execute(f"ALTER DATABASE {name} SET max_parallel_workers_per_gather = 0")
    environment = os.environ | LOCAL | {"DATABASE_URL": url}
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], check=True, cwd=ROOT, env=environment)
    numbers = [f"--{kind}={number * times}" for kind, number in SMALL.items()]
    began = time.monotonic()
    subprocess.run([sys.executable, "manage.py", "load_synthetic", *numbers], check=True, cwd=ROOT, env=environment)
    return {"url": url, "took": time.monotonic() - began}


class Asked:
    """A process that asks one database."""

    def __init__(self, url: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.growth_calls"], cwd=ROOT, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=os.environ | LOCAL | KEEPS_NOTHING | {"DATABASE_URL": url},
        )  # fmt: skip
        self.calls: list[str] = self._answer()

    def ask(self, name: str, times: int) -> list[float]:
        """The seconds of each time."""
        assert self.process.stdin
        print(json.dumps([name, times]), file=self.process.stdin, flush=True)
        took: list[float] = self._answer()
        return took

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()

    def _answer(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline() or sys.exit("A process of the benchmark has failed."))


def measured(urls: list[str], rounds: int, only: str) -> dict[str, dict[str, Any]]:
    asked = [Asked(url) for url in urls]
    found = {}
    print(f"{'':52} {'p50 ms':>16} {'':>7} {'p99 ms':>16}")
    for name in asked[1].calls:
        if only in name:
            found[name] = compared(asked, name, rounds)
            print(line(name, found[name]), flush=True)
    for one in asked:
        one.end()
    return found


def compared(asked: list[Asked], name: str, rounds: int) -> dict[str, Any]:
    """Of either database p50 and p99 in milliseconds, and of both how they grow: the median of the rounds' ratios."""
    is_long = max(max(one.ask(name, 3)) for one in asked) > LONG
    rounds, times = (3, 1) if is_long else (rounds, TIMES if name.startswith(KINDS) else TIMES_OF_OTHERS)
    takes = [alternating(asked, name, times) for _ in range(rounds)]
    small, large = (list(chain(*column)) for column in zip(*takes, strict=True))
    growth = median(median(large) / median(small) for small, large in takes)
    found = {"p50": [median(small), median(large)], "growth": growth, "times": rounds * times}
    if is_long:  # of so few times there is no p99
        return found
    # Whatever else the machine does for a moment is in one round.
    growth_of_p99 = median(percentile(large) / percentile(small) for small, large in takes)
    return found | {"p99": [percentile(small), percentile(large)], "growth_of_p99": growth_of_p99}


def alternating(asked: list[Asked], name: str, times: int) -> list[list[float]]:
    """The milliseconds of each call, by database. They are asked in turn, so that both see the same of the machine."""
    turns = [[one.ask(name, 1)[0] * 1000 for one in asked] for _ in range(times)]
    return [list(column) for column in zip(*turns, strict=True)]


def percentile(takes: list[float]) -> float:
    return quantiles(takes, n=100, method="inclusive")[98]


def line(name: str, it: dict[str, Any]) -> str:
    is_slow = it["growth"] > GROWTH or it.get("growth_of_p99", 0) > GROWTH_OF_P99
    said = f"{name:52} {it['p50'][0]:7.2f} {it['p50'][1]:8.2f} {it['growth']:6.2f}"
    if "p99" in it:
        said += f" {it['p99'][0]:7.2f} {it['p99'][1]:8.2f} {it['growth_of_p99']:6.2f}"
    return said + " !" * is_slow


def sizes_of(url: str) -> dict[str, list[int]]:
    """By table: rows, bytes, and bytes of its indexes."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT relname, reltuples::bigint, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY pg_total_relation_size(oid) DESC"
        ).fetchall()
    return {name: numbers for name, *numbers in rows}


if __name__ == "__main__":
    main()
