"""Every file in deploy/, and the scripts that people run, by a linter of its kind: `python -m tests.deploy.lint`.

A linter that is not there is named, with what it would have looked at.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.deploy.steps import leave_out

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
Lines = list[str | Path]


def run(words: Lines, **values: str) -> str:
    """What a linter says, where it finds something."""
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | values, cwd=ROOT, check=False)
    return "" if done.returncode == 0 else f"{done.stdout}{done.stderr}".strip() or "it failed"


def systemd(scratch: Path) -> str:
    """As the units are installed, below a folder where what they start is there. It warns, and ends with 0."""
    units = scratch / "etc/systemd/system"
    shutil.copytree(DEPLOY / "systemd", units)
    for name in ("gunicorn", "python"):
        program = scratch / "opt/porthole/current/.venv/bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.touch(mode=0o755)
    names: Lines = [file.name for file in sorted(units.iterdir())]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={scratch}", *names],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr.strip()


def caddy(scratch: Path) -> str:
    """With and without a line about TLS. What is formatted otherwise counts too."""
    said = run(["caddy", "fmt", "--diff", DEPLOY / "Caddyfile"])
    for tls in ("", "tls internal"):
        values = {"PUBLIC_URL": "https://porthole.example.com", "PORTHOLE_TLS": tls, "HOME": str(scratch)}
        said += run(["caddy", "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile"], **values)
    return said


def nginx(scratch: Path) -> str:
    """In a configuration that has what a site does not say itself, with a certificate made for this."""
    run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=porthole.example.com", "-keyout", scratch / "key", "-out", scratch / "crt"])  # fmt: skip
    site = (DEPLOY / "nginx/porthole.conf").read_text()
    site = site.replace("/etc/ssl/porthole.crt", f"{scratch}/crt").replace("/etc/ssl/porthole.key", f"{scratch}/key")
    whole = f"pid {scratch}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{site}\n}}\n"
    (scratch / "nginx.conf").write_text(whole)
    return run(["nginx", "-t", "-q", "-p", scratch, "-c", scratch / "nginx.conf"])


def shellcheck(scratch: Path) -> str:
    return run(["shellcheck", "--severity=warning", *scripts()])


def scripts() -> Lines:
    """Each that says so in its first line."""
    files = [*(ROOT / "bin").iterdir(), *DEPLOY.rglob("*"), ROOT / ".ci/run"]
    return sorted(file for file in files if file.is_file() and file.read_bytes()[:30].splitlines()[:1] in SHELLS)


SHELLS = ([b"#!/bin/sh"], [b"#!/usr/bin/env bash"])
LINTERS: dict[str, Callable[[Path], str]] = {
    "systemd-analyze": systemd, "caddy": caddy, "nginx": nginx, "shellcheck": shellcheck,
}  # fmt: skip


def findings() -> Iterator[str]:
    for program, lint in LINTERS.items():
        if not shutil.which(program) and not Path(f"/usr/sbin/{program}").exists():
            leave_out(f"{lint.__name__}: {program} is not installed")
            continue
        try:
            with TemporaryDirectory(prefix="porthole-lint-") as scratch:
                said = lint(Path(scratch))
        except FileNotFoundError as missing:
            leave_out(f"{lint.__name__}: {missing.filename} is not installed")
            continue
        print(f"  {'ok' if not said else 'no'}            {program}", flush=True)
        if said:
            yield f"{program}:\n{said}"


if __name__ == "__main__":
    problems = list(findings())
    sys.exit("\n".join(problems) or 0)
