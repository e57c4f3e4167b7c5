"""The tables in docs/performance.md, from the results that are kept.

python -m benchmarks.page [--check]
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.growth_page import tables
from benchmarks.plot import drawn
from benchmarks.results import GROWTH, KEPT
from benchmarks.servers import ROOT

PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "performance.svg"
ENOUGH_CORE, MOST_LOAD = 0.85, 0.8
BEGIN, END = "<!-- made by make bench: {} -->\n", "<!-- end -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where the page says something else")
    is_check = parser.parse_args().check
    if is_check and (changed := changes()):
        names = ", ".join(str(file.relative_to(ROOT)) for file in changed)
        sys.exit(f"Not what {KEPT.parent.relative_to(ROOT)} says: {names}. Run `python -m benchmarks.page`.")
    if not is_check:
        write()


def write() -> None:
    for file, text in changes().items():
        file.write_text(text, "utf-8")


def changes() -> dict[Path, str]:
    """The files that are not what the kept results say, and what they should be."""
    kept, growth = (json.loads(file.read_text("utf-8")) for file in (KEPT, GROWTH))
    wanted = made(kept, growth, PAGE.read_text("utf-8"))
    return {file: text for file, text in wanted.items() if not file.exists() or file.read_text("utf-8") != text}


def made(result: dict[str, Any], growth: dict[str, Any], page: str) -> dict[Path, str]:
    """The page and its picture."""
    parts = {"run": run(result), "targets": targets(result), "memory": memory(result)}
    parts["repositories"] = repositories(result)
    parts |= tables(growth)
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
        *(f"\n{caution}" for caution in cautions(result)),
    ))  # fmt: skip


def cautions(result: dict[str, Any]) -> list[str]:
    """What makes the figures worse than they should be, as sentences."""
    variants = [it for measured in result["databases"].values() for it in measured["variants"].values()]
    busy, load = min(it["busy"] for it in variants), max(it["load_busy"] for it in variants)
    said = []
    if busy < ENOUGH_CORE:
        said.append(
            f"**Other work ran on this machine meanwhile**: a server had as little as {busy:.0%} of its core. Requests "
            "per second and latencies are worse than they would be on a quiet machine; ratios are what can be used."
        )
    if load > MOST_LOAD:
        said.append(f"**The load used {load:.0%} of its core**: the quickest variants may be quicker than it can ask.")
    return said


def table(measured: dict[str, Any]) -> str:
    counted = any("instructions" in it for it in measured["variants"].values())
    head = ["", "Requests/s", "p50 ms", "p99 ms", "CPU µs", "kB", *(["Instructions, million"] if counted else [])]
    lines = [head, ["---"] * len(head)]
    for it in measured["variants"].values():
        cells = [it["what"], f"{it['per_second']:,.0f}", f"{it['p50']:.1f}", f"{it['p99']:.1f}", f"{it['cpu']:,.0f}"]
        lines.append([*cells, f"{it['bytes'] / 1000:.1f}", *([_millions(it)] if counted else [])])
    return "\n".join(map(_line, lines))


def _millions(variant: dict[str, Any]) -> str:
    return f"{variant['instructions'] / 1000:.2f}" if "instructions" in variant else ""


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def targets(result: dict[str, Any]) -> str:
    measured = result["databases"]["postgresql"]
    counted = any("instructions_ratio" in it for it in measured["targets"])
    head = ["", "Against", "Wanted", "Requests/s", "CPU", *(["Instructions"] if counted else [])]
    lines = [head, ["---"] * len(head)]
    for it in measured["targets"]:
        low, high = it["ratio_half"]
        cells = [it["ours"], measured["variants"][it["peer"]]["what"], f"≥ {it['least']} × {it['of']}"]
        cells += [f"{it['ratio']:.2f} × ({low:.2f}–{high:.2f})", f"{it['cpu_ratio']:.2f} ×"]
        if counted:
            cells.append(f"{it['instructions_ratio']:.2f} ×" if "instructions_ratio" in it else "")
        lines.append(cells)
    return "\n".join(map(_line, lines))


def memory(result: dict[str, Any]) -> str:
    found = result["footprint"]
    lines = [
        "| | Wanted | Measured |", "| --- | --- | --- |",
        f"| RSS of a preloaded worker | ≤ 80 MiB | {found['rss']:.0f} MiB |",
        f"| PSS of a preloaded worker | ≤ 50 MiB | {found['pss']:.0f} MiB |",
        f"| Start-up to the first answer | ≤ 3 s | {found['start_seconds']:.1f} s |",
    ]  # fmt: skip
    if "polling" in result:
        lines.append(f"| A minute of polling while the prober runs | | {result['polling']['hit_rate']:.1%} are hits |")
    return "\n".join(lines)


def repositories(result: dict[str, Any]) -> str:
    """Results that were kept before this was measured have nothing of it."""
    found = result.get("repositories")
    if found is None:
        return "Not measured in this run."
    cpu = found["cpu_ms"]
    each = ", ".join(f"{seconds:.2f}" for seconds in found["first_each"])
    return "\n".join((
        "| | Wanted | Measured |", "| --- | --- | --- |",
        f"| First answer about a repository of {found['commits']:,} commits | ≤ 2 s | {found['first_seconds']:.2f} s |",
        f"| CPU of `get_file`, 32 kB, above an empty call | ≤ 2.5 ms | {cpu['get_file']:.2f} ms |",
        f"| CPU of `list_files`, 100 entries, above an empty call | ≤ 1.5 ms | {cpu['list_files']:.2f} ms |",
        f"| The same, where none of its pages is in memory | | {cpu['list_files, not kept']:.2f} ms |",
        f"| CPU of an empty call | | {cpu['an empty call']:.2f} ms |",
        "",
        f"Measured on {found['date']} at commit `{found['commit']}`; load of the machine before: "
        f"{found['load_before']}. First answers: {each} s.",
    ))  # fmt: skip


if __name__ == "__main__":
    main()
