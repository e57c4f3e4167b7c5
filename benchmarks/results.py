"""What came of a run: medians, ratios within rounds, and the targets; small enough to keep."""

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.servers import CORES, PEERS, ROOT
from benchmarks.variants import TARGETS

FOLDER = ROOT / "benchmarks" / "results"
KEPT, GROWTH = FOLDER / "latest.json", FOLDER / "growth.json"
FIGURES = ("per_second", "p50", "p99", "cpu", "busy", "load_busy")
OURS = ("django", "psycopg", "gunicorn", "orjson")
THEIRS = (
    "django", "djangorestframework", "django-ninja", "psycopg", "gunicorn", "orjson", "fastapi", "asyncpg", "uvicorn",
    "uvloop", "httptools", "mcp", "fastmcp",
)  # fmt: skip


def summary(measured: dict[str, Any]) -> dict[str, Any]:
    """Of one database: `variants` with the medians of each, and `targets` with ratios of the same round."""
    rounds: dict[str, list[dict[str, float]]] = measured["rounds"]
    variants = {
        name: {"what": measured["what"][name], "bytes": measured["bytes"][name]}
        | {figure: _rounded(median(it[figure] for it in its)) for figure in FIGURES}
        | {"rounds": [round(it["per_second"]) for it in its]}
        for name, its in rounds.items()
    }
    targets = [
        {
            "ours": target.ours, "peer": target.peer, "least": target.least, "of": target.of,
            **_spread("ratio", [a["per_second"] / b["per_second"] for a, b in _pairs(rounds, target)]),
            **_spread("cpu_ratio", [b["cpu"] / a["cpu"] for a, b in _pairs(rounds, target)]),
        }
        for target in TARGETS
        if target.ours in rounds and target.peer in rounds
    ]  # fmt: skip
    return {"variants": variants, "targets": targets}


def add_instructions(measured: dict[str, Any], counts: dict[str, int]) -> None:
    """Thousands for one answer of each variant, and how many times as many a peer takes."""
    for name, number in counts.items():
        if name in measured["variants"]:
            measured["variants"][name]["instructions"] = number
    for target in measured["targets"]:
        if {target["ours"], target["peer"]} <= counts.keys():
            target["instructions_ratio"] = _rounded(counts[target["peer"]] / counts[target["ours"]])


def _pairs(rounds: dict[str, list[dict[str, float]]], target: Any) -> list[tuple[dict[str, float], dict[str, float]]]:
    return list(zip(rounds[target.ours], rounds[target.peer], strict=True))


def _spread(name: str, values: Sequence[float]) -> dict[str, Any]:
    """The median, and between which two values half of them lie."""
    low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return {name: _rounded(median(values)), f"{name}_half": [_rounded(low), _rounded(high)]}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def circumstances(options: dict[str, Any]) -> dict[str, Any]:
    """Machine, versions, date and commit."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _said("git", "rev-parse", "--short=12", "HEAD"),
        "changed": bool(_said("git", "status", "--porcelain", "--", "apps", "config")),
        "machine": {
            "cpu": _cpu_model(), "cores": len(CORES), "system": f"{platform.system()} {platform.machine()}",
            "load_before": round(os.getloadavg()[0], 1),
        },
        "python": platform.python_version(),
        "versions": {name: version(name) for name in OURS},
        "options": options,
    }  # fmt: skip


def _said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def versions_of_peers() -> dict[str, str]:
    code = f"from importlib.metadata import version; print(*map(version, {THEIRS!r}))"
    said = _said(str(PEERS), "-c", code).split()
    return dict(zip(THEIRS, said, strict=True))
