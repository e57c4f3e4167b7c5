"""Files at rest: whoever else has an account on the machine reads nothing, whatever the umask was."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from config import files
from tests.config.cases import refusals
from tests.config.server import LOCAL, PREVIEW, gunicorn, run

CHECK = ("manage.py", "check")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_to_others(folder: Path) -> dict[str, str]:
    return {str(path): oct(mode(path)) for path in (folder, *folder.rglob("*")) if mode(path) & 0o077}


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """A DATA_DIR as earlier releases made it, with a database that has no tables yet."""
    folder = tmp_path / "data"
    (folder / "static").mkdir(parents=True)
    (folder / "porthole.sqlite3").touch()
    for path, bits in ((folder, 0o755), (folder / "static", 0o755), (folder / "porthole.sqlite3", 0o644)):
        path.chmod(bits)
    return folder


def test_a_server_closes_what_is_open_and_makes_nothing_open(wide: Path, databases: Path) -> None:
    shutil.copyfile(databases / "organizations.sqlite3", wide / "porthole.sqlite3")  # without its mode
    with gunicorn(LOCAL | {"DATA_DIR": str(wide), "LOCAL_DEV_ORG": "acme"}) as server:
        assert server.call().status == 200
        assert (wide / "porthole.sqlite3-wal").exists()
        assert open_to_others(wide) == {}
        assert any("was open to other users" in line for line in server.said)


@pytest.mark.process
def test_a_command_makes_nothing_that_is_open(tmp_path: Path) -> None:
    status, said = run("manage.py", "migrate", "contenttypes", env=LOCAL | {"DATA_DIR": str(tmp_path / "data")})
    assert status == 0, said
    assert (tmp_path / "data" / "porthole.sqlite3").exists()
    assert open_to_others(tmp_path / "data") == {}


def test_what_cannot_be_closed_is_refused_outside_local(db: None, wide: Path) -> None:
    wide.chmod(0o1777)  # as /tmp is: nobody takes it from the others who share it
    files.narrow(wide, {"ENGINE": "django.db.backends.sqlite3", "NAME": wide / "porthole.sqlite3"})
    assert (mode(wide), mode(wide / "porthole.sqlite3")) == (0o1777, 0o600)
    refused = f"DATA_DIR and its database must be the own ones of the user that Porthole runs as. Not so: {wide}"
    assert refusals(PREVIEW | {"DATA_DIR": str(wide)}) == [refused]
    assert refusals(LOCAL | {"DATA_DIR": str(wide)}) == []


@pytest.mark.soak
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_somebody_else_is_refused_outside_local(wide: Path) -> None:
    os.chown(wide / "porthole.sqlite3", 65534, 65534)
    status, said = run(*CHECK, env=PREVIEW | {"DATA_DIR": str(wide)})
    assert status != 0
    assert f"Not so: {wide}/porthole.sqlite3" in said
