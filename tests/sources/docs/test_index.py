"""Which files are indexed, and that an index is written as a whole or not at all."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from apps.sources.docs import index as docs_index
from apps.sources.docs.index import build, connect, fingerprint, scan, stored_in
from tests.sources.docs.test_corpus import write


def found(*roots: Path) -> list[str]:
    return [file.path for file in scan(roots).files]


def test_documents_are_found_in_the_order_of_their_paths(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(("b.md", "a/z.MDX", "a.markdown", "c.rst", "d.txt", "e.py", "f", "g.md.bak"), "x"))

    assert found(tmp_path) == ["a.markdown", "a/z.MDX", "b.md", "c.rst", "d.txt"]


def test_hidden_files_and_links_out_of_the_directory_are_left_out(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.md": "x", ".b.md": "x", ".git/c.md": "x", "deep/d.md": "x"})
    write(tmp_path, {"secret.md": "x", "outside/e.md": "x", "root-twin/f.md": "x"})
    (root / "inside.md").symlink_to("deep/d.md")
    for name, target in (("s.md", "../secret.md"), ("t.md", "../root-twin/f.md"), ("gone.md", "nowhere.md")):
        (root / name).symlink_to(target)
    (root / "outside").symlink_to("../outside")
    (root / "circle").symlink_to(".")
    os.mkfifo(root / "pipe.md")

    assert found(root) == ["a.md", "deep/d.md", "inside.md"]


def test_a_directory_may_itself_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "v2", {"a.md": "x"})
    (tmp_path / "current").symlink_to("v2")

    assert found(tmp_path / "current") == ["a.md"]


def test_large_files_and_unprintable_names_are_left_out(tmp_path: Path) -> None:
    write(
        tmp_path, {"fits.md": "x" * docs_index.MAX_BYTES, "large.md": "x" * (docs_index.MAX_BYTES + 1), "a\nb.md": "x"}
    )
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).write_text("x")
    write(tmp_path, {"/".join(["d" * 200] * 3) + ".md": "x"})

    assert found(tmp_path) == ["fits.md"]


def test_files_beyond_the_limit_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_index, "MAX_FILES", 2)
    write(tmp_path, {f"{n}.md": "x" for n in range(4)})

    assert found(tmp_path) == ["0.md", "1.md"]


def test_the_fingerprint_follows_names_sizes_and_times(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "x"})
    seen = {fingerprint(scan([tmp_path]).files)}
    assert fingerprint(scan([tmp_path]).files) in seen
    os.utime(tmp_path / "a.md", ns=(1, 1))
    seen.add(fingerprint(scan([tmp_path]).files))
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    seen.add(fingerprint(scan([tmp_path]).files))
    (tmp_path / "b.md").write_text("xy")
    os.utime(tmp_path / "b.md", ns=(1, 1))
    seen.add(fingerprint(scan([tmp_path]).files))

    assert len(seen) == 4


def test_text_that_is_not_utf8_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"# Caf\xe9 title\n")
    build(tmp_path / "index", scan([tmp_path]).files)

    with closing(connect(tmp_path / "index")) as connection:
        assert connection.execute("SELECT title FROM page_info").fetchone() == ("Caf\ufffd title",)


def test_a_file_that_vanishes_after_the_scan_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "x", "b.md": "x"})
    files = scan([tmp_path]).files
    (tmp_path / "a.md").unlink()
    build(tmp_path / "index", files)

    with closing(connect(tmp_path / "index")) as connection:
        assert connection.execute("SELECT path FROM page_info").fetchall() == [("b.md",)]


def test_a_build_that_fails_leaves_the_old_index_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "d", {"a.md": "x"})
    index = tmp_path / "index"
    build(index, scan([tmp_path / "d"]).files)
    before = index.read_bytes()
    monkeypatch.setattr(docs_index, "_FINISH", "no such statement")

    with pytest.raises(sqlite3.OperationalError):
        build(index, [])

    assert index.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"d", "index"}


def test_what_a_killed_build_left_behind_is_removed(tmp_path: Path) -> None:
    (tmp_path / "index.abc.tmp").write_text("half")
    (tmp_path / "other.abc.tmp").write_text("somebody else's")
    build(tmp_path / "index", [])

    assert {path.name for path in tmp_path.iterdir()} == {"index", "other.abc.tmp"}


@pytest.mark.parametrize("content", [b"", b"rubbish" * 1000])
def test_only_an_index_tells_what_it_was_built_from(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    build(tmp_path / "index", [])

    with closing(connect(tmp_path / "index")) as connection:
        assert stored_in(connection).fingerprint == fingerprint([])
    with closing(connect(tmp_path / "other")) as connection, pytest.raises(sqlite3.DatabaseError):
        stored_in(connection)


def test_an_open_index_cannot_be_written(tmp_path: Path) -> None:
    build(tmp_path / "index", [])

    with closing(connect(tmp_path / "index")) as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM meta")
