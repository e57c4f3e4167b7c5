"""How much of the disk mirrors take: what nobody has read for the longest time goes, and nobody notices."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from apps.sources import tasks
from apps.sources.git import disk, mirrors, stamps
from apps.sources.git.mirrors import Mirror
from apps.sources.git.repository import open_repository
from apps.sources.git.single_flight import file_lock
from apps.sources.git.values import Location
from tests.sources.git.conftest import URL
from tests.sources.git.origins import Network, Origin

KIB = 1024
EACH = 64 * KIB  # that a mirror takes, and a little more


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mirrors"
    (folder / "hosts").mkdir(parents=True)
    (folder / "hosts" / "a.json").write_bytes(b"0" * EACH)  # is no mirror
    return folder


def made(folder: Path, name: str, used_at: float | None = None) -> Path:
    """A mirror that was read then; None: never."""
    mirror = folder / name
    (mirror / "g-1" / "objects").mkdir(parents=True)
    (mirror / "lock").touch()
    (mirror / "g-1" / "objects" / "pack").write_bytes(os.urandom(EACH))
    if used_at is not None:
        (mirror / disk.USED).touch()
        os.utime(mirror / disk.USED, (used_at, used_at))
    return mirror


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"hosts"}


def test_nothing_goes_within_the_budget(folder: Path) -> None:
    made(folder, "a", 1.0)
    made(folder, "b")
    assert disk.keep_within(folder, 3 * EACH) == 0
    assert names(folder) == {"a", "b"}


def test_the_longest_unread_go_first_until_there_is_some_room(folder: Path) -> None:
    for name, used_at in (("newest", 300.0), ("oldest", 100.0), ("middle", 200.0), ("never", None)):
        made(folder, name, used_at)
    assert disk.keep_within(folder, 3 * EACH) == 2  # a tenth of the budget is left free
    assert names(folder) == {"newest", "middle"}
    assert sum(disk._taken(path).size for path in disk._folders(folder)) <= 3 * EACH * disk.FILLED


def test_what_is_asked_for_now_stays_and_so_does_what_is_being_fetched_into(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name, used_at in (("asked", 1.0), ("fetched", 2.0), ("third", 3.0)):
        made(folder, name, used_at)
    with file_lock(folder / "fetched" / "lock", seconds=0):
        assert disk.keep_within(folder, 0, but=folder / "asked") == 1
        assert "none of them can be removed now" in caplog.text
        caplog.clear()
        assert disk.keep_within(folder, EACH, but=folder / "asked") == 0
    assert "Mirrors were removed" not in caplog.text
    assert names(folder) == {"asked", "fetched"}


def test_a_mirror_that_cannot_be_moved_stays_and_nothing_is_left_beside_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(folder, "a", 1.0)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "rename", refuse)
    assert disk.remove(folder / "a") is False
    assert names(folder) == {"a"}


def test_a_budget_below_nothing_removes_all_and_a_folder_that_is_not_there_has_nothing(folder: Path) -> None:
    made(folder, "a", 1.0)
    assert disk.keep_within(folder, -EACH) == 1
    assert disk.keep_within(folder / "not there", 0) == 0


def test_that_a_mirror_was_read_is_written_down_at_most_once_a_minute(network: Network, origin: Origin) -> None:
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    mirror.latest("main")
    written, before = set[float](), network.time
    for _ in range(130):
        disk.note_use(mirror.folder)
        written.add((mirror.folder / disk.USED).stat().st_mtime)
        network.time += 1
    assert sorted(at - before for at in written) == [0, 60, 120]
    assert disk._taken(mirror.folder).used_at == max(written)


def test_reading_a_mirror_is_what_counts(network: Network, origin: Origin) -> None:
    origin.commit({"a": "1"})
    for key in ("org_1", "org_2"):
        open_repository(Location(URL, "main", key), None)
        network.time += 61
    open_repository(Location(URL, "main", "org_1"), None).list("")
    network.settle()
    folder = Mirror(URL, "org_1").folder
    disk.keep_within(folder.parent, disk._taken(folder).size * 3 // 2)
    assert disk._folders(folder.parent) == [folder]


def test_what_somebody_left_who_was_killed_while_removing_goes(
    folder: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(folder, "a", 1.0)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # killed before it
        assert disk.remove(folder / "a")
    assert [name.partition("-")[0] for name in names(folder)] == ["gone"]
    settings.DATA_DIR = folder.parent
    tasks.refresh_mirrors.func()
    assert names(folder) == set()


def test_removing_twice_or_what_is_not_there_is_no_error(folder: Path) -> None:
    mirror = made(folder, "a", 1.0)
    assert disk.remove(mirror)
    assert disk.remove(mirror)
    assert names(folder) == set()


def test_who_reads_a_mirror_goes_on_while_it_is_removed(network: Network, origin: Origin) -> None:
    origin.commit({"a": "1", "folder": {"b": "2"}})
    repository = open_repository(Location(URL, "main", "org_1"), None)
    assert repository.read("a", 0, 1024).content == "1"
    assert disk.remove(Mirror(URL, "org_1").folder)
    assert [entry.name for entry in repository.list("folder")] == ["b"]
    assert repository.read("folder/b", 0, 1024).content == "2"


def test_a_mirror_that_was_removed_is_fetched_anew_by_the_next_caller(network: Network, origin: Origin) -> None:
    first = origin.commit({"a": "1"})
    location = Location(URL, "main", "org_1")
    assert open_repository(location, None).commit_sha == first
    assert disk.remove(Mirror(URL, "org_1").folder)
    second = origin.commit({"a": "2"})
    repository = open_repository(location, None)
    assert (repository.commit_sha, repository.is_stale) == (second, False)
    assert repository.read("a", 0, 1024).content == "2"


def test_a_first_fetch_makes_room_first(
    network: Network, origin: Origin, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the whole budget, what first fetches at once may take is left free."""
    origin.commit({"a": os.urandom(EACH)})
    for key in ("org_1", "org_2"):
        open_repository(Location(URL, "main", key), None)
        network.time += 61
    monkeypatch.setattr(mirrors, "ROOM", 2 * EACH)
    settings.MIRRORS_GIB = 5 * EACH / 2**30
    open_repository(Location(URL, "main", "org_3"), None)
    assert [Mirror(URL, key).generation() is None for key in ("org_1", "org_2", "org_3")] == [True, False, False]


def in_the_future(mirror: Path) -> None:
    os.utime(mirror / disk.USED, (stamps.now() + 1e9, stamps.now() + 1e9))


def before_1970(mirror: Path) -> None:
    os.utime(mirror / disk.USED, (-1e9, -1e9))


def as_a_folder(mirror: Path) -> None:
    (mirror / disk.USED).unlink()
    (mirror / disk.USED).mkdir()


def as_a_link_to_itself(mirror: Path) -> None:
    (mirror / disk.USED).unlink()
    (mirror / disk.USED).symlink_to(disk.USED)


def as_a_link_to_nothing(mirror: Path) -> None:
    (mirror / disk.USED).unlink()
    (mirror / disk.USED).symlink_to(mirror / "nowhere" / "at" / "all")


def never(mirror: Path) -> None:
    (mirror / disk.USED).unlink()


HOSTILE = [in_the_future, before_1970, as_a_folder, as_a_link_to_itself, as_a_link_to_nothing, never]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_clock_or_a_note_that_is_wrong_is_no_error(folder: Path, hostile: Any) -> None:
    mirror = made(folder, "a", stamps.now())
    hostile(mirror)
    disk.note_use(mirror)
    disk.note_use(mirror)
    assert disk.keep_within(folder, 10 * EACH) == 0
    assert disk.keep_within(folder, 0) == 1
    assert names(folder) == set()


@pytest.mark.parametrize(
    ("module", "call"), [(Path, "touch"), (os, "utime"), (Path, "rename"), (disk.tempfile, "mkdtemp")]
)
def test_a_disk_that_takes_nothing_is_no_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: Any, call: str
) -> None:
    """What cannot be noted is not, and what cannot be removed stays."""
    mirror = made(folder, "a")

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(module, call, refuse)
        disk.note_use(mirror)
        disk.keep_within(folder, 0)
    disk.keep_within(folder, 0)
    assert {name for name in names(folder) if not name.startswith("gone-")} == set()
