"""What search_docs answers: hits, their addresses and snippets, and an index that keeps up with the files."""

import fcntl
import json
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from apps.sources.docs import corpus as docs
from apps.sources.docs import upkeep
from apps.sources.docs.corpus import Docs, page_url
from apps.web.exceptions import Unavailable
from tests.patience import patience


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def write(directory: Path, pages: dict[str, str]) -> Path:
    for path, text in pages.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return directory


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return write(
        tmp_path / "docs",
        {
            "index.md": "# Welcome\n\nStart here.\n",
            "guides/README.md": "# Guides\n\n## Rollbacks\n\nGo back to an earlier release.\n",
            "guides/domains.mdx": "# Domains\n\n## Certificates\n\nRenewed every sixty days.\n",
        },
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The indexes built during the test."""
    indexes: list[Path] = []
    build = upkeep.build

    def counting(index: Path, files: object) -> None:
        indexes.append(index)
        build(index, files)

    monkeypatch.setattr(upkeep, "build", counting)
    return indexes


def paths(searched: Docs, query: str) -> list[str]:
    return [hit.path for hit in searched.search(query, 5)]


def look(searched: Docs) -> Docs:
    """The check of the directories that a search starts where one is due has ended."""
    searched.search("anything", 5)
    searched.upkeep.wait(patience())
    return searched


def test_a_hit_names_the_page_and_its_best_section(directory: Path, data: Path) -> None:
    (hit,) = Docs((directory,), data, "https://docs.example.com/").search("certificates", 5)

    assert hit.id.startswith("doc_")
    assert len(hit.id) == 30
    assert asdict(hit) | {"id": ""} == {
        "id": "",
        "title": "Domains",
        "section": "Certificates",
        "path": "guides/domains.mdx",
        "url": "https://docs.example.com/guides/domains#certificates",
        "anchor": "certificates",
        "snippet": "Renewed every sixty days.",
        "score": 1.0,
    }


def test_the_top_of_a_page_has_no_section_and_no_anchor(directory: Path, data: Path) -> None:
    (hit,) = Docs((directory,), data, "https://docs.example.com").search("welcome", 5)

    assert (hit.section, hit.anchor, hit.url) == (None, None, "https://docs.example.com/")


def test_search_reads_the_settings(directory: Path, data: Path, settings: object) -> None:
    settings.DOCS_DIRS, settings.DATA_DIR, settings.DOCS_BASE_URL = [directory], data, None
    assert docs.indexed_at() is None

    (hit,) = docs.search("earlier release", 5)

    assert (hit.path, hit.anchor) == ("guides/README.md", "rollbacks")
    assert hit.url == "http://localhost:8000/docs/~docs/guides/#rollbacks"
    assert docs.prepare() == 3
    assert abs(docs.indexed_at() - datetime.now(UTC)) < timedelta(minutes=5)


@pytest.mark.parametrize(
    ("path", "anchor", "url"),
    [
        ("index.md", None, "https://docs.example.com/v1/"),
        ("README.md", "a", "https://docs.example.com/v1/#a"),
        ("guides/readme.markdown", None, "https://docs.example.com/v1/guides/"),
        ("guides/env-vars.mdx", "größe", "https://docs.example.com/v1/guides/env-vars#gr%C3%B6%C3%9Fe"),
        ("a b/c?.md", None, "https://docs.example.com/v1/a%20b/c%3F"),
        ("release.v2.md", None, "https://docs.example.com/v1/release.v2"),
        ("notes.txt", None, "https://docs.example.com/v1/notes.txt"),
        ("é" * 500 + ".md", None, None),
    ],
)
def test_addresses_leave_the_extension_out_and_point_at_directories(
    path: str, anchor: str | None, url: str | None
) -> None:
    assert page_url("https://docs.example.com/v1/", path, anchor) == url


def test_the_id_depends_on_the_path_only(directory: Path, data: Path) -> None:
    before = Docs((directory,), data).search("domains", 1)[0].id
    write(directory, {"guides/domains.mdx": "# All about domains\n", "zebra.md": "# Zebra\n"})

    after = Docs((directory,), data / "elsewhere").search("domains", 1)[0].id

    assert before == after


def test_the_same_path_in_two_directories_is_two_documents(directory: Path, data: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "more", {"index.md": "# Welcome\n\nStart there.\n"})

    hits = Docs((directory, other), data).search("welcome", 5)

    assert [hit.path for hit in hits] == ["index.md", "index.md"]
    assert hits[0].id != hits[1].id


def test_the_snippet_shows_the_text_around_the_match(data: Path, tmp_path: Path) -> None:
    filler = "Nothing of interest stands in this sentence at all. " * 200
    text = f"# Page\n\n{filler}\n\nRun **`porthole rotate --now`** when a [key](x.md) leaks.\n\n{filler}"

    (hit,) = Docs((write(tmp_path / "d", {"page.md": text}),), data).search("rotate leaks", 5)

    assert "porthole rotate --now when a key leaks." in hit.snippet
    assert len(hit.snippet) <= 400
    assert "*" not in hit.snippet


@pytest.mark.parametrize(
    "body",
    ["long" * 300, "wide " + "x" * 1000 + " rotate " + "y" * 1000, "rotate " + "é" * 2000, "a-b " * 500 + "rotate"],
)
def test_a_snippet_is_never_longer_than_promised(body: str, data: Path, tmp_path: Path) -> None:
    (hit,) = Docs((write(tmp_path / "d", {"rotate.md": body}),), data).search("rotate", 5)

    assert 0 < len(hit.snippet) <= 400
    assert not set(hit.snippet) & {"\x02", "\x03"}


def test_a_heading_without_text_shows_the_text_that_follows(data: Path, tmp_path: Path) -> None:
    text = "# Page\n\n## Rotation\n\n### Steps\n\nFirst make a new key.\n"

    (hit,) = Docs((write(tmp_path / "d", {"page.md": text}),), data).search("rotation", 5)

    assert (hit.section, hit.snippet) == ("Rotation", "First make a new key.")


def test_equally_good_pages_come_in_the_order_of_their_paths(data: Path, tmp_path: Path) -> None:
    names = ["b.md", "a.md", "d/z.md", "c.md"]
    same = write(tmp_path / "d", dict.fromkeys(names, "# Same\n\nEqual words.\n"))

    hits = Docs((same,), data).search("equal", 20)

    assert [hit.path for hit in hits] == sorted(names)
    assert hits == Docs((same,), data / "again").search("equal", 20)


def test_twenty_of_the_largest_hits_fit_in_one_answer(data: Path, tmp_path: Path) -> None:
    deep = "/".join(["𝒹" * 60] * 8)
    text = f"# {'𝒻' * 199}\n\n## Rotate {'𝒽' * 190}\n\nRotate {'𝓍' * 390}\n"
    large = write(tmp_path / "d", {f"{deep}/{n:02}.md": text for n in range(25)})

    hits = Docs((large,), data, "https://docs.example.com").search("rotate", 20)

    assert 5 < len(hits) < 20
    assert len(json.dumps([asdict(hit) for hit in hits], ensure_ascii=False).encode()) < 64 * 1024


@pytest.mark.parametrize("make", [False, True])
def test_missing_or_empty_directories_answer_nothing(make: bool, data: Path, tmp_path: Path) -> None:
    if make:
        (tmp_path / "none").mkdir()

    assert Docs((tmp_path / "none",), data).search("anything", 5) == []
    assert Docs((), data).search("anything", 5) == []


def test_changes_are_seen_after_thirty_seconds(directory: Path, data: Path, built: list[Path]) -> None:
    clock = Clock()
    searched = Docs((directory,), data, clock=clock)
    assert paths(searched, "zebra") == []
    write(directory, {"zebra.md": "# Zebra\n"})

    clock.now += 29.9
    assert paths(searched, "zebra") == []
    clock.now += 0.2
    assert paths(look(searched), "zebra") == ["zebra.md"]
    assert len(built) == 2


def test_edited_and_removed_files_are_noticed(directory: Path, data: Path) -> None:
    clock = Clock()
    searched = Docs((directory,), data, clock=clock)
    assert paths(searched, "certificates") == ["guides/domains.mdx"]

    (directory / "index.md").write_text("# Welcome\n\nCertificates are elsewhere.\n")
    (directory / "guides/domains.mdx").unlink()
    clock.now += 31

    assert paths(look(searched), "certificates") == ["index.md"]


def test_an_unchanged_index_is_used_again(directory: Path, data: Path, built: list[Path]) -> None:
    clock = Clock()
    first = Docs((directory,), data, clock=clock)
    first.search("welcome", 5)
    clock.now += 31
    look(first)
    Docs((directory,), data).search("welcome", 5)

    assert len(built) == 1
    assert sorted(path.suffix for path in data.iterdir()) == [".lock", ".sqlite3"]


def test_other_directories_have_an_index_of_their_own(directory: Path, data: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "more", {"zebra.md": "# Zebra\n"})
    one, two = Docs((directory,), data), Docs((other,), data)

    assert (paths(one, "zebra"), paths(two, "zebra")) == ([], ["zebra.md"])
    assert one.upkeep.index != two.upkeep.index


def test_an_index_that_another_process_replaced_is_opened_at_once(directory: Path, data: Path) -> None:
    clock = Clock()
    here, there = Docs((directory,), data, clock=clock), Docs((directory,), data, clock=Clock())
    assert paths(there, "zebra") == []
    write(directory, {"zebra.md": "# Zebra\n"})
    clock.now += 31
    assert paths(there, "zebra") == paths(here, "nothing")  # `there` does not look yet

    assert paths(look(here), "zebra") == ["zebra.md"]
    assert paths(there, "zebra") == ["zebra.md"]


def test_while_another_process_builds_the_old_index_answers(directory: Path, data: Path, built: list[Path]) -> None:
    clock = Clock()
    searched = Docs((directory,), data, clock=clock)
    searched.search("welcome", 5)
    write(directory, {"zebra.md": "# Zebra\n"})
    clock.now += 31

    with searched.upkeep.index.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert paths(look(searched), "zebra") == []
        assert paths(searched, "welcome") == ["index.md"]
    assert len(built) == 1


def test_an_index_that_is_no_index_is_built_again(directory: Path, data: Path) -> None:
    searched = Docs((directory,), data)
    data.mkdir()
    searched.upkeep.index.write_bytes(b"not a database" * 100)

    assert paths(searched, "welcome") == ["index.md"]


def test_a_removed_index_is_built_again(directory: Path, data: Path) -> None:
    searched = Docs((directory,), data, clock=Clock())
    searched.search("welcome", 5)
    searched.upkeep.index.unlink()

    assert paths(searched, "welcome") == ["index.md"]


def test_without_a_place_for_the_index_the_search_is_unavailable(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(Unavailable):
        Docs((directory,), tmp_path / "file" / "data").search("welcome", 5)


def test_when_building_fails_the_old_index_goes_on(
    directory: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    searched = Docs((directory,), data, clock=clock)
    searched.search("welcome", 5)
    write(directory, {"zebra.md": "# Zebra\n"})
    clock.now += 31

    def full(index: Path, files: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(upkeep, "build", full)

    assert paths(look(searched), "welcome") == ["index.md"]
    assert searched.upkeep.problem == upkeep.NOT_BUILT


def test_threads_that_start_together_look_and_build_once(
    directory: Path, data: Path, built: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    scan = upkeep.scan
    monkeypatch.setattr(upkeep, "scan", lambda roots: looks.append(roots) or scan(roots))
    searched = Docs((directory,), data)
    together = threading.Barrier(8)

    def ask(_: int) -> list[str]:
        together.wait(patience())
        return paths(searched, "welcome")

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(8))) == [["index.md"]] * 8
    assert (len(looks), len(built)) == (1, 1)


_PROCESS = """
import sys
from pathlib import Path
from apps.sources.docs import corpus as docs, upkeep
from apps.sources.docs import upkeep
build = upkeep.build
upkeep.build = lambda index, files: (print("built"), build(index, files))
searched = docs.Docs((Path(sys.argv[1]),), Path(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
print(*(hit.path for hit in searched.search("number", 20)))
"""


@pytest.mark.process
def test_processes_that_start_together_build_once(data: Path, tmp_path: Path) -> None:
    many = write(tmp_path / "d", {f"{n:03}.md": f"# Number {n}\n\nText." for n in range(100)})
    command = [sys.executable, "-c", _PROCESS, str(many), str(data)]
    root = Path(__file__).parents[3]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": root}
    processes = [subprocess.Popen(command, **pipes) for _ in range(3)]
    try:
        assert [process.stdout.readline() for process in processes] == ["ready\n"] * 3
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        answers = [process.communicate(timeout=patience())[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()

    assert sum(answer.count("built") for answer in answers) == 1
    assert len({answer.splitlines()[-1] for answer in answers}) == 1
    assert len(answers[0].splitlines()[-1].split()) == 20
    assert not list(data.glob("*.tmp"))


def test_a_fork_does_not_share_the_connection(directory: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = Docs((directory,), data)
    searched.search("welcome", 5)
    before = searched.upkeep.opened()

    monkeypatch.setattr(os, "getpid", lambda: -1)
    searched.search("welcome", 5)

    assert searched.upkeep.opened() is not before


def test_the_index_is_looked_at_and_built_beside_whoever_asks(
    directory: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    for name in ("scan", "build", "look_through"):
        work = getattr(upkeep, name)
        monkeypatch.setattr(
            upkeep, name, lambda *given, work=work: threads.append(threading.current_thread().name) or work(*given)
        )
    clock = Clock()
    searched = Docs((directory,), data, clock=clock)
    searched.search("welcome", 5)
    write(directory, {"zebra.md": "# Zebra\n"})
    clock.now += 31

    assert paths(look(searched), "zebra") == ["zebra.md"]
    assert searched.upkeep.note_damage(searched.upkeep.opened(), sqlite3.DatabaseError()) is None
    assert paths(searched, "zebra") == ["zebra.md"]
    assert len(threads) > 3
    assert set(threads) == {"docs index"}


def test_the_worker_looks_at_the_index_of_strangers_too(
    directory: Path, data: Path, tmp_path: Path, settings: object
) -> None:
    own = write(tmp_path / "own", {"index.md": "# Ours\n"})
    settings.DOCS_DIRS, settings.OWN_DOCS, settings.DATA_DIR = [own, directory], own, data

    assert docs.refresh() is None
    assert len(list(data.glob("docs-index-*.sqlite3"))) == 2


def test_an_operators_synonyms_are_read_from_the_settings(directory: Path, data: Path, settings: object) -> None:
    settings.DOCS_DIRS, settings.DATA_DIR, settings.DOCS_BASE_URL = [directory], data, None
    settings.DOCS_SYNONYMS = (("blimp", "certificates"),)

    assert [hit.path for hit in docs.search("blimps", 5)] == ["guides/domains.mdx"]
