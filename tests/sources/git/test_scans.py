"""What was found in a file is kept, for this process and for the next."""

import json

import pytest

from apps.sources.git import scans
from apps.web.exceptions import InvalidInput
from tests.sources.git.planted import planted_of

SHA = "0123456789" * 4
TEXT = "\n".join(text for text, _ in planted_of("GitHub classic")).encode()


@pytest.fixture
def searches(monkeypatch):
    """How often a text was searched. Nothing is kept in memory from before."""
    scans._kept.clear()
    searched, search = [], scans.search
    monkeypatch.setattr(scans, "search", lambda text: searched.append(text) or search(text))
    yield searched
    scans._kept.clear()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "g-1").mkdir()
    return tmp_path / "g-1" / "scanned"


def test_a_blob_is_searched_once(searches, folder):
    first = scans.redacted(SHA, TEXT, folder)
    assert scans.redacted(SHA, TEXT, folder) == first
    assert first[1] == 10
    assert len(searches) == 1


def test_without_a_folder_it_is_kept_in_memory(searches):
    assert scans.redacted(SHA, TEXT, None) == scans.redacted(SHA, TEXT, None)
    assert len(searches) == 1


def test_the_next_process_need_not_search(searches, folder):
    first = scans.redacted(SHA, TEXT, folder)
    scans._kept.clear()
    assert scans.redacted(SHA, TEXT, folder) == first
    assert len(searches) == 1


def test_what_is_kept_tells_where_and_never_what(searches, folder):
    scans.redacted(SHA, TEXT, folder)
    (file,) = (path for path in folder.rglob("*") if path.is_file())
    assert file == folder / SHA[:2] / SHA
    told = json.loads(file.read_bytes().partition(b"\n")[2])
    assert len(told) == 10
    assert all(isinstance(place, int) for span in told for place in span)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:-2] + b"9]",
        lambda data: data.partition(b"\n")[0] + b"\n[]",
        lambda data: b"\xff" + data,
        lambda data: data.partition(b"\n")[2],
    ],
)
def test_a_damaged_file_is_made_anew(searches, folder, damage):
    first = scans.redacted(SHA, TEXT, folder)
    file = folder / SHA[:2] / SHA
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    scans._kept.clear()
    assert scans.redacted(SHA, TEXT, folder) == first
    assert file.read_bytes() == whole
    assert len(searches) == 2


def test_another_detector_searches_again(searches, folder, monkeypatch):
    scans.redacted(SHA, TEXT, folder)
    scans._kept.clear()
    monkeypatch.setattr(scans, "DETECTOR", "another")
    scans.redacted(SHA, TEXT, folder)
    assert len(searches) == 2


def test_another_blobs_file_says_nothing_of_this_one(searches, folder):
    scans.redacted(SHA, b"nothing", folder)
    other = SHA[:2] + SHA[2:][::-1]
    (folder / SHA[:2] / SHA).rename(folder / SHA[:2] / other)
    assert scans.redacted(other, TEXT, folder)[1] == 10


def test_a_disk_that_takes_nothing_is_no_error(searches, folder):
    folder.parent.rmdir()
    assert scans.redacted(SHA, TEXT, folder)[1] == 10
    assert not folder.parent.exists()


def test_what_takes_too_long_is_tried_once_by_a_process(searches, folder, monkeypatch):
    monkeypatch.setattr(scans, "search", searches.append)  # which returns None
    for _ in range(2):
        with pytest.raises(InvalidInput):
            scans.redacted(SHA, TEXT, folder)
    assert len(searches) == 1
    assert not folder.exists()


def test_memory_is_bounded(searches, monkeypatch):
    monkeypatch.setattr(scans, "MAX_KEPT", 3)
    for number in range(5):
        scans.redacted(f"{number:040}", b"nothing", None)
    assert [int(sha) for sha in scans._kept] == [2, 3, 4]
    monkeypatch.setattr(scans, "MAX_SPANS", 9)
    scans.redacted(SHA, TEXT, None)
    assert SHA not in scans._kept
