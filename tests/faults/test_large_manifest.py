"""A manifest of 100,000 applications is synced, synced again, and refused where it is wrong, in 500 MB."""

import re
import shutil
from pathlib import Path

import pytest

from tests.config.server import LOCAL, start
from tests.platforms.manifest.large import ROWS_OF_EACH, write_large_manifest

pytestmark = [pytest.mark.process, pytest.mark.soak]

APPS = 100_000
MAX_BYTES = 500_000_000


# The process tells: what waits for it is told the most that it or the one that forked it had.
MEASURED = """
import runpy, sys
try:
    runpy.run_path("manage.py", run_name="__main__")
finally:
    (most,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(most, file=sys.stderr)
"""


def manage(*arguments: str, data: Path) -> tuple[int, str, int]:
    """Exit status, what a command said, and the most bytes that it had in memory."""
    process = start("-c", MEASURED, *arguments, env=LOCAL | {"DATA_DIR": str(data)})
    output, errors = process.communicate()
    (most,) = re.findall(r"VmHWM:\s*(\d+) kB", errors)
    return process.returncode, output + errors, int(most) * 1024


def test_a_hundred_thousand_applications_are_synced_in_500_mb(databases: Path, tmp_path: Path) -> None:
    shutil.copy(databases / "organizations.sqlite3", tmp_path / "porthole.sqlite3")
    file = tmp_path / "large.yaml"
    write_large_manifest(file, APPS)
    for expected in (
        rf"acme: {APPS * ROWS_OF_EACH + 401} rows created, 0 updated, 0 deleted",
        "acme: nothing had changed",
    ):
        status, said, memory = manage("sync_manifest", "acme", str(file), data=tmp_path)
        assert (status, re.findall(expected, said)) == (0, [expected]), said
        assert memory <= MAX_BYTES, f"{memory / 1e6:.0f} MB"


def test_what_is_wrong_with_a_hundred_thousand_applications_is_told_in_500_mb(databases: Path, tmp_path: Path) -> None:
    """Each of them, and only when all of them are known."""
    shutil.copy(databases / "organizations.sqlite3", tmp_path / "porthole.sqlite3")
    file = tmp_path / "large.yaml"
    write_large_manifest(file, APPS)
    file.write_text(file.read_text().replace("connection: gh", "connection: nowhere"))
    status, said, memory = manage("sync_manifest", "acme", str(file), data=tmp_path)
    assert (status, "10000 problems or more (the first 200 are told)" in said) == (1, True), said
    assert "projects[0].apps[0].source.connection: there is no connection with this key" in said
    assert memory <= MAX_BYTES, f"{memory / 1e6:.0f} MB"
