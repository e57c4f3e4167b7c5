"""make bench: Porthole and its peers over HTTP, on PostgreSQL and on SQLite; docs/performance.md tells how to read it.

    python -m benchmarks.bench [--rounds 9] [--seconds 1.5] [--keep]

With --keep the result replaces benchmarks/results/latest.json, and docs/performance.md says it.
"""

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from benchmarks import page, results
from benchmarks.servers import ROOT

BUILD = ROOT / "build" / "bench"
POSTGRESQL = [sys.executable, "bin/postgres.py", "--"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each variant in each round")
    parser.add_argument("--polling", type=float, default=60, help="seconds of polling while the prober runs; 0: none")
    parser.add_argument("--instructions", action="store_true", help="count them too, by valgrind: some minutes more")
    parser.add_argument("--keep", action="store_true", help="keep the result, and write docs/performance.md anew")
    options = parser.parse_args()
    result = results.circumstances({"rounds": options.rounds, "seconds": options.seconds})
    result["peers"] = results.versions_of_peers()
    result["databases"] = {
        database: results.summary(
            part("compare", database, f"--rounds={options.rounds}", f"--seconds={options.seconds}")
        )
        for database in ("postgresql", "sqlite")
    }
    result["footprint"] = part("footprint", "postgresql")
    result["repositories"] = part("repositories", "sqlite")
    if options.instructions:
        counts = part("instructions", "postgresql")
        results.add_instructions(result["databases"]["postgresql"], counts)
    if options.polling:
        result["polling"] = part("polling", "postgresql", f"--seconds={options.polling}")
    said(result)
    kept = results.KEPT if options.keep else BUILD / "result.json"
    kept.write_text(json.dumps(result, indent=1) + "\n")
    print(f"\nThe result is in {kept.relative_to(ROOT)}.")
    if options.keep:
        page.write()


def part(name: str, database: str, *arguments: str) -> dict[str, Any]:
    """What a module of this package measures, in a process of its own: Django's settings are for one database."""
    output = BUILD / f"{name}-{database}.json"
    environment = {key: value for key, value in os.environ.items() if database == "postgresql" or key != "DATABASE_URL"}
    command = [sys.executable, "-m", f"benchmarks.{name}", f"--output={output}", *arguments]
    subprocess.run(
        [*POSTGRESQL, *command] if database == "postgresql" else command, cwd=ROOT, env=environment, check=True
    )
    found: dict[str, Any] = json.loads(output.read_text())
    return found


def said(result: dict[str, Any]) -> None:
    for database, measured in result["databases"].items():
        print(f"\n{database}\n{page.table(measured)}")
    print(
        "\n".join(
            (
                "",
                page.targets(result),
                "",
                page.memory(result),
                "",
                page.repositories(result),
                "",
                *page.cautions(result),
            )
        )
    )


if __name__ == "__main__":
    main()
