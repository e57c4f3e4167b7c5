"""The table in docs/performance.md, from the result that is kept.

python -m benchmarks.page [--check]
"""

import argparse
import json
import sys
from typing import Any

from benchmarks.plot import drawn
from benchmarks.results import KEPT
from benchmarks.servers import ROOT

PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "performance.svg"
BEGIN, END = "<!-- made by make bench: {} -->\n", "<!-- end -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where the page says something else")
    is_check = parser.parse_args().check
    wanted = made(json.loads(KEPT.read_text("utf-8")), PAGE.read_text("utf-8"))
    changed = [file for file, text in wanted.items() if not file.exists() or file.read_text("utf-8") != text]
    if is_check and changed:
        names = ", ".join(str(file.relative_to(ROOT)) for file in changed)
        sys.exit(f"Not what {KEPT.relative_to(ROOT)} says: {names}. Run `python -m benchmarks.page`.")
    for file in changed:
        file.write_text(wanted[file], "utf-8")


def made(result: dict[str, Any], page: str) -> dict[Any, str]:
    """The page and its picture."""
    parts = {"run": run(result), "targets": targets(result), "memory": memory(result)}
    parts |= {database: table(result["databases"][database]) for database in result["databases"]}
    for name, text in parts.items():
        before, begin, rest = page.partition(BEGIN.format(name))
        if not begin:
            raise ValueError(f"{PAGE.name} has no place for {name}.")
        page = f"{before}{begin}{text}\n{END}{rest.partition(END)[2]}"
    return {PAGE: page, PICTURE: drawn(result)}


def run(result: dict[str, Any]) -> str:
    machine, options = result["machine"], result["options"]
    ours, peers = (", ".join(f"{name} {it}" for name, it in result[key].items()) for key in ("versions", "peers"))
    return "\n".join((
        f"Measured on {result['date']} at commit `{result['commit']}`: {machine['cores']} cores of {machine['cpu']}, "
        f"Python {result['python']}, {options['rounds']} rounds of {options['seconds']} s each. "
        f"Load of the machine before: {machine['load_before']}.",
        "",
        f"Porthole: {ours}. Peers: {peers}.",
    ))  # fmt: skip


def table(measured: dict[str, Any]) -> str:
    lines = ["| | Requests/s | p50 ms | p99 ms | CPU µs | kB |", "| --- | --- | --- | --- | --- | --- |"]
    for it in measured["variants"].values():
        lines.append(
            f"| {it['what']} | {it['per_second']:,.0f} | {it['p50']:.1f} | {it['p99']:.1f} | {it['cpu']:,.0f} "
            f"| {it['bytes'] / 1000:.1f} |"
        )
    return "\n".join(lines)


def targets(result: dict[str, Any]) -> str:
    measured = result["databases"]["postgresql"]
    lines = ["| | Against | Wanted | Requests/s | CPU |", "| --- | --- | --- | --- | --- |"]
    for it in measured["targets"]:
        low, high = it["ratio_half"]
        lines.append(
            f"| {it['ours']} | {measured['variants'][it['peer']]['what']} | ≥ {it['least']} × "
            f"| {it['ratio']:.2f} × ({low:.2f}–{high:.2f}) | {it['cpu_ratio']:.2f} × |"
        )
    return "\n".join(lines)


def memory(result: dict[str, Any]) -> str:
    found = result["footprint"]
    lines = [
        "| | Wanted | Measured |", "| --- | --- | --- |",
        f"| RSS of a preloaded worker | ≤ 80 MiB | {found['rss']:.0f} MiB |",
        f"| PSS of a preloaded worker | ≤ 50 MiB | {found['pss']:.0f} MiB |",
        f"| Start-up to the first answer | ≤ 3 s | {found['start_seconds']:.1f} s |",
    ]  # fmt: skip
    if "polling" in result:
        lines.append(f"| A minute of polling while the prober runs | | {result['polling']['hit_rate']:.0%} are hits |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
