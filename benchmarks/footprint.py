"""What Porthole takes before it has answered much: seconds until the first answer, and memory of preloaded workers.

python bin/postgres.py -- python -m benchmarks.footprint --output build/bench/footprint.json
"""

import argparse
import json
from pathlib import Path
from statistics import median

from benchmarks.compare import load
from benchmarks.django_setup import set_up
from benchmarks.servers import Server, free_port

STARTS = 3
WORKERS = "2"
SECONDS = 2.0  # of load, so that every thread has made what it keeps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args().output
    with set_up():
        output.write_text(json.dumps(measured()))


def measured() -> dict[str, float]:
    """`start_seconds`, and MiB of the largest worker: `rss`, `pss`."""
    from django.db import connections

    from benchmarks import stock
    from benchmarks.variants import INPUT, KEEPS_NOTHING, LOCAL, OURS, TOOL, http

    stock.fill()
    request = http(TOOL, stock.issue_token(), INPUT)
    connections.close_all()
    environment = LOCAL | KEEPS_NOTHING | {"WEB_CONCURRENCY": WORKERS}
    starts, memory = [], list[dict[str, float]]()
    for _ in range(STARTS):
        server = Server("footprint", [*OURS, "config.wsgi"], environment, free_port())
        try:
            server.start()
            starts.append(server.wait(request))
            with load() as asking:
                asking(server, request, SECONDS)
            memory += server.workers()
        finally:
            server.stop()
    largest = {kind: round(max(worker[kind] for worker in memory), 1) for kind in ("rss", "pss")}
    return {"start_seconds": round(median(starts), 2), **largest}


if __name__ == "__main__":
    main()
