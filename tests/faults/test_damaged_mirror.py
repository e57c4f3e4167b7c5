"""A mirror whose files were damaged by a dying disk or another program: told as 503, and fetched anew by itself."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.git_servers import GitServer, git_server
from tests.patience import patience
from tests.sources.git.origins import Origin

URL = "https://git.example.com/acme/shop.git"
CONTENT = "".join(f"line {number} of a file\n" for number in range(200))

pytestmark = pytest.mark.process


def files(mirror: Path, suffix: str) -> list[Path]:
    found = list((mirror / "current").glob(f"objects/pack/pack-*{suffix}"))
    assert found
    for path in found:
        path.chmod(0o600)
    return found


def truncate(mirror: Path) -> None:
    for path in files(mirror, ".pack"):
        os.truncate(path, 64)


def empty(mirror: Path) -> None:
    for path in files(mirror, ".pack"):
        os.truncate(path, 0)


def zero_packs(mirror: Path) -> None:
    for path in files(mirror, ".pack"):
        path.write_bytes(bytes(path.stat().st_size))


def damage_packs_inside(mirror: Path) -> None:
    for path in files(mirror, ".pack"):
        data = path.read_bytes()
        path.write_bytes(data[:20] + bytes(len(data) - 60) + data[-40:])


def zero_indexes(mirror: Path) -> None:
    for path in files(mirror, ".idx"):
        path.write_bytes(bytes(path.stat().st_size))


def forget_names_in_indexes(mirror: Path) -> None:
    """Objects are not found any more, as if they had been left at the remote; where they are is still right."""
    for path in files(mirror, ".idx"):
        data = path.read_bytes()
        count = int.from_bytes(data[1028:1032], "big")
        names = data[1032 : 1032 + 20 * count]
        kept = b"".join(names[at : at + 1] + bytes(19) for at in range(0, len(names), 20))
        path.write_bytes(data[:1032] + kept + data[1032 + 20 * count :])


def delete_packs(mirror: Path) -> None:
    for suffix in (".pack", ".idx"):
        for path in files(mirror, suffix):
            path.unlink()


def damage_configuration(mirror: Path) -> None:
    for path in (mirror / "current").glob("config"):
        path.write_text("[core\n")


def forget_record(mirror: Path) -> None:
    for path in (mirror / "current").glob("packs.json"):
        path.write_text('{"a')


DAMAGES: list[Callable[[Path], None]] = [
    truncate, empty, zero_packs, damage_packs_inside, zero_indexes, forget_names_in_indexes, delete_packs,
    damage_configuration, forget_record,
]  # fmt: skip


def garble_stamps(mirror: Path) -> None:
    for path in (mirror / "current").glob("stamps/*.json"):
        path.write_text('{"ref": 1, "name": [], "commit": null, "fetched_at": "x", "tried_at": {}, "failed": 3}')


def stamp_another_commit(mirror: Path) -> None:
    for path in (mirror / "current").glob("stamps/*.json"):
        start = path.read_text().index('"commit": "') + 11
        path.write_text(path.read_text()[:start] + "1" * 40 + path.read_text()[start + 40 :])


def lead_nowhere(mirror: Path) -> None:
    (mirror / "current").unlink()
    (mirror / "current").symlink_to("g-gone")


def be_a_folder(mirror: Path) -> None:
    (mirror / "current").unlink()
    (mirror / "current").mkdir()


def be_a_file(mirror: Path) -> None:
    (mirror / "current").unlink()
    (mirror / "current").write_bytes(b"\xff")


BROKEN_NOTES: list[Callable[[Path], None]] = [
    garble_stamps, stamp_another_commit, lead_nowhere, be_a_folder, be_a_file,
]  # fmt: skip


@contextmanager
def serving(databases: Path, tmp_path: Path) -> Iterator[tuple[GitServer, Path]]:
    origin = Origin(tmp_path / "origin")
    origin.commit({"file.txt": CONTENT, "other": "1", "large.bin": os.urandom(1024 * 1024 + 1)})
    with git_server(databases, tmp_path / "data", {URL: f"file://{origin.folder}"}) as server:
        assert read(server)[0] == 200
        (mirror,) = [path for path in (server.data / "mirrors").iterdir() if path.name != "hosts"]
        yield server, mirror


def read(server: GitServer, path: str = "file.txt") -> tuple[int, dict]:
    status, answer, _ = server.call("get_file", server.apps[0], path=path)
    return status, answer


def read_until_right(server: GitServer) -> None:
    """Each answer is right, or 503: never that the file is something else."""
    deadline = time.monotonic() + patience()
    while True:
        status, answer = read(server)
        if status == 200:
            assert answer["content"] == CONTENT
            return
        assert status == 503, answer
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.soak
def test_a_mirror_that_is_damaged_is_fetched_anew_and_no_worker_dies(databases, tmp_path):
    with serving(databases, tmp_path) as (server, mirror):
        worker = server.worker()
        for damage in (*DAMAGES, *BROKEN_NOTES):
            damage(mirror)
            status, answer = read(server)
            assert status == 503 or (damage in BROKEN_NOTES and status == 200), (damage.__name__, answer)
            read_until_right(server)
            assert server.worker() == worker, damage.__name__
            # A file that was left at the remote is still told from one that is lost.
            status, answer = read(server, "large.bin")
            assert (status, answer["detail"][0]["type"]) == (422, "too_large")
