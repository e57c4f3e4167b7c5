"""A docs index that is damaged, and a docs folder that vanishes, under a server that goes on answering."""

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from apps.sources.docs.corpus import Docs
from apps.sources.docs.index import connect
from apps.sources.docs.upkeep import look_through
from tests.config.server import LOCAL, Answer, Server, gunicorn
from tests.patience import patience
from tests.sources.docs.test_corpus import write

SEARCH = "/api/v1/tools/search_docs"
PAGES = {f"{n}.md": f"# Page {n}\n\nAll about zebras. " + f"word{n} " * 300 for n in range(40)}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, databases: Path) -> Iterator[tuple[Server, Path]]:
    base = tmp_path_factory.mktemp("docs-faults")
    (base / "data").mkdir()
    shutil.copy(databases / "organizations.sqlite3", base / "data/porthole.sqlite3")
    env = LOCAL | {"RATE_LIMITS": "off", "DATA_DIR": str(base / "data"), "DOCS_DIRS": str(write(base / "docs", PAGES))}
    with gunicorn(env) as server:
        yield server, base


def search(server: Server) -> Answer:
    return server.call(SEARCH, body=b'{"query": "zebras"}')


def index_in(base: Path) -> Path:
    (index,) = (base / "data").glob("docs-index-*.sqlite3")
    return index


def answers_again(server: Server) -> None:
    """Every answer until then is a 503 that says when to come back; nobody else is disturbed."""
    deadline = time.monotonic() + patience()
    while (answer := search(server)).status != 200:
        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert server.call("/healthz", method="GET").status == 200
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert json.loads(answer.body)["items"]


def is_whole(index: Path) -> bool:
    try:
        with closing(connect(index)) as connection:
            look_through(connection)
    except sqlite3.Error:
        return False
    return True


def truncated(index: Path) -> None:
    with index.open("r+b") as file:
        file.truncate(8192)


def emptied(index: Path) -> None:
    index.write_bytes(b"")


def zeroed(index: Path) -> None:
    size = index.stat().st_size
    with index.open("r+b") as file:
        file.seek(8192)
        file.write(bytes(size - 8192))


def foreign(index: Path) -> None:
    index.unlink()
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("CREATE TABLE other (x)")


def without_a_table(index: Path) -> None:
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("DROP TABLE section_info")
        connection.commit()


def a_folder(index: Path) -> None:
    index.unlink()
    (index / "somebody's").mkdir(parents=True)


def deleted(index: Path) -> None:
    index.unlink()


SOAK = [pytest.param(damage, marks=pytest.mark.soak) for damage in (truncated, emptied, foreign, without_a_table)]


@pytest.mark.process
@pytest.mark.parametrize("damage", [zeroed, a_folder, deleted, *SOAK])
def test_a_damaged_index_is_never_a_bug_and_is_soon_whole(
    served: tuple[Server, Path], damage: Callable[[Path], None]
) -> None:
    server, base = served
    answers_again(server)
    process = server.process.pid
    index = index_in(base)
    damage(index)
    assert not is_whole(index)

    deadline = time.monotonic() + patience()
    while not is_whole(index):  # meanwhile a thread that has the last one open may still answer from it
        answers_again(server)
        assert time.monotonic() < deadline
        time.sleep(0.1)
    answers_again(server)
    assert server.process.poll() is None
    assert server.process.pid == process
    assert not [line for line in server.said if "Traceback" in line or "SIGBUS" in line]


@pytest.mark.soak
@pytest.mark.process
def test_a_folder_that_vanishes_leaves_the_last_index_in_place(databases: Path, tmp_path: Path) -> None:
    data, folder = tmp_path / "data", write(tmp_path / "docs", PAGES)
    data.mkdir()
    shutil.copy(databases / "organizations.sqlite3", data / "porthole.sqlite3")
    Docs((folder,), data).pages()
    shutil.rmtree(folder)
    with gunicorn(LOCAL | {"DATA_DIR": str(data), "DOCS_DIRS": str(folder)}) as server:
        for _ in range(5):
            assert json.loads(search(server).body)["items"]
        server.line(lambda line: "a folder of DOCS_DIRS is gone" in line)
        ready = server.call("/readyz", method="GET")
    assert (ready.status, ready.body.startswith(b"ok; docs: a folder of DOCS_DIRS is gone")) == (200, True)
    assert not [line for line in server.said if "Traceback" in line]
