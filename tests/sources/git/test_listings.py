"""Pages of folders that are kept: right for every commit, for one organization, and within their size."""

import gc
import tracemalloc
from collections.abc import Iterator
from sys import getsizeof

import pytest

from apps.sources.git import listings, mirrors, repository
from apps.sources.git.repository import open_repository
from apps.sources.git.values import Entry, Location
from apps.web.exceptions import InvalidInput
from tests.sources.git.conftest import URL
from tests.sources.git.origins import Network, Origin

SHOP = Location(URL, "main", "org_1")


@pytest.fixture(autouse=True)
def nothing_is_kept() -> Iterator[None]:
    listings.pages.clear()
    yield
    listings.pages.clear()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of files whose size was looked at."""
    seen, size_of = list[str](), repository.size_of

    def noted(found: object, oid: object) -> int | None:
        seen.append(str(oid))
        return size_of(found, oid)  # type: ignore[arg-type]

    monkeypatch.setattr(repository, "size_of", noted)
    return seen


def names(ref: str | None = None, path: str = "", start: int = 0, count: int | None = None) -> list[str]:
    return [entry.name for entry in open_repository(SHOP, ref).list(path, start, count)]


def test_the_same_page_is_made_once(network: Network, origin: Origin, looks: list[str]) -> None:
    origin.commit({"a": "1", "b": "2", "c": {"d": "3"}})
    assert names() == ["c", "a", "b"]
    assert looks
    looks.clear()
    assert names() == ["c", "a", "b"]
    assert not looks


def test_a_page_that_is_kept_needs_no_repository(
    network: Network, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha = origin.commit({"a": "1"})
    before = open_repository(SHOP, None)
    assert [entry.name for entry in before.list("")] == ["a"]
    made_at = before.committed_at

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(mirrors, "open_at", refuse)
    again = open_repository(SHOP, None)
    assert ([entry.name for entry in again.list("")], again.commit_sha, again.committed_at) == (["a"], sha, made_at)


def test_another_part_folder_or_commit_is_another_page(network: Network, origin: Origin) -> None:
    first = origin.commit({"a": "1", "b": "2", "c": {"a": "3"}})
    for _ in range(2):
        assert (names(), names(path="c"), names(start=1), names(count=1)) == (["c", "a", "b"], ["a"], ["a", "b"], ["c"])
    second = origin.commit({"z": "1"})
    for _ in range(2):
        assert (names(first), names(second)) == (["c", "a", "b"], ["z"])


def test_what_is_refused_is_refused_again(network: Network, origin: Origin) -> None:
    origin.commit({"a": "1"})
    for path, kind in (("nothing", "path_not_found"), ("a", "not_a_directory"), ("../a", "path_not_found")) * 2:
        with pytest.raises(InvalidInput) as refusal:
            names(path=path)
        assert [problem.type for problem in refusal.value.problems] == [kind]


def test_another_organization_makes_its_own(network: Network, origin: Origin, looks: list[str]) -> None:
    """Else the time of an answer would tell what others read."""
    origin.commit({"a": "1"})
    assert names() == ["a"]
    looks.clear()
    assert [entry.name for entry in open_repository(Location(URL, "main", "org_2"), None).list("")] == ["a"]
    assert looks


def test_memory_stays_within_its_limit_and_the_longest_unread_goes(
    network: Network, origin: Origin, monkeypatch: pytest.MonkeyPatch, looks: list[str]
) -> None:
    origin.commit({name: {"a": "1", "b": "2"} for name in "pqr"})
    monkeypatch.setattr(listings, "MAX_BYTES", 2 * 4 * listings.ENTRY_BYTES)
    monkeypatch.setattr(listings, "MAX_PAGE_BYTES", 4 * listings.ENTRY_BYTES)
    for path in "pqpr":  # r has no room beside p and q, and q was asked for longest ago
        names(path=path)
        assert listings.pages.size <= listings.MAX_BYTES
    for path, is_kept in (("p", True), ("r", True), ("q", False)):
        looks.clear()
        names(path=path)
        assert bool(looks) is not is_kept, path


def test_what_a_page_takes_is_counted(network: Network, origin: Origin) -> None:
    origin.commit({f"{number:03}é\U0001f511": "1" for number in range(200)})
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    names()
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert taken / 2 < listings.pages.size < taken * 2


def test_a_page_that_is_too_large_is_not_kept(
    network: Network, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listings, "MAX_PAGE_BYTES", 2 * listings.ENTRY_BYTES)
    origin.commit({"a": "1", "b": "2"})
    assert names() == ["a", "b"]
    assert listings.pages.size == 0


def test_a_page_that_two_threads_make_is_counted_once() -> None:
    key, page = (None, "1" * 40, "", 0, None), (Entry("a", "a", "file", 1, "2" * 40),)

    def make() -> listings.Page:
        listings.pages.get(key, lambda: page)  # type: ignore[arg-type]
        return page

    assert listings.pages.get(key, make) == page  # type: ignore[arg-type]
    assert listings.pages.size == 2 * listings.ENTRY_BYTES + 2 * getsizeof("a")
