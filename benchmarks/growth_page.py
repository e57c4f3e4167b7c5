"""The tables of growth in docs/performance.md."""

from typing import Any

KINDS = ("typical", "large")
GROWTH, GROWTH_OF_P99 = 1.5, 2.0
SIZED = 12  # tables that are shown; the others are small


def tables(result: dict[str, Any]) -> dict[str, str]:
    """By the names of their places on the page."""
    return {
        "growth": growth(result), "growth of others": others(result), "growth run": run(result), "size": size(result),
    }  # fmt: skip


def run(result: dict[str, Any]) -> str:
    machine, times, rows = result["machine"], result["options"]["times"], result["rows"]
    made = ", ".join(f"{number * times:,} {kind}" for kind, number in rows.items() if kind != "largest")
    said = (
        f"Measured on {result['date']} at commit `{result['commit']}`: {machine['cores']} cores of {machine['cpu']}, "
        f"load before: {machine['load_before']}. The large database has {made}; the small one a {times:,}th of each."
    )
    took = result["loaded_in"][1]
    return said if took is None else f"{said} Filling took {took / 60:.0f} minutes."


def growth(result: dict[str, Any]) -> str:
    lines = [
        "| | Typical: p50 ms | Growth | p99 | Large: p50 ms | Growth | p99 |", "| --- |" + " --- |" * 6,
    ]  # fmt: skip
    calls = result["calls"]
    names = [name.partition(": ")[2] for name in calls if name.startswith("typical: ")]
    for name in names:
        cells = [cell for kind in KINDS for cell in _cells(calls[f"{kind}: {name}"])]
        lines.append(f"| {_code(name)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def others(result: dict[str, Any]) -> str:
    lines = ["| | p50 ms | Growth | p99 |", "| --- | --- | --- | --- |"]
    for name, call in result["calls"].items():
        if not name.startswith(KINDS):
            lines.append(f"| {name} | {' | '.join(_cells(call))} |")
    return "\n".join(lines)


def size(result: dict[str, Any]) -> str:
    lines = ["| | Rows, thousand | Table MB | Indexes MB |", "| --- | --- | --- | --- |"]
    for name, (rows, table, indexes) in list(result["sizes"].items())[:SIZED]:
        lines.append(f"| `{name}` | {rows / 1000:,.0f} | {table / 1e6:,.0f} | {indexes / 1e6:,.0f} |")
    return "\n".join(lines)


def _cells(call: dict[str, Any]) -> list[str]:
    small, large = call["p50"]
    return [
        f"{small:.2f} → {large:.2f}", _held(call["growth"], GROWTH),
        _held(call["growth_of_p99"], GROWTH_OF_P99) if "p99" in call else "–",
    ]  # fmt: skip


def _held(growth: float, most: float) -> str:
    return f"**{growth:.2f} ×**" if growth > most else f"{growth:.2f} ×"


def _code(name: str) -> str:
    tool, _, rest = name.partition(" ")
    return f"`{tool}` {rest}".strip()
