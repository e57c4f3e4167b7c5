"""Which lists make an order, and what is left out of it."""

from pathlib import Path

import pytest

from apps.sources.docs import ranking
from apps.sources.docs.corpus import Docs
from apps.sources.docs.query import any_of, read_query
from apps.sources.docs.ranking import rank
from apps.sources.docs.relevance import Relevance
from apps.sources.docs.synonyms import Synonyms, groups_in, synonyms
from tests.sources.docs.test_corpus import write

FILLER = {f"other/{n}.md": f"# Page {n}\n\nNothing of interest, number {n}.\n" for n in range(12)}


@pytest.fixture
def searched(tmp_path: Path) -> Docs:
    pages = FILLER | {
        "certificates.md": "# Certificates\n\nEach certificate is renewed in time.\n",
        "tls.md": "# Protocols\n\nTLS 1.3 is spoken. A certificate is needed.\n",
        "memory.md": "# Memory\n\nHow much an instance may take.\n",
        "lock.md": "# Lock\n\nText.\n\n## File\n\nText.\n",
        "cursor.md": "# Cursor\n\nWhat comes next.\n",
    }
    return Docs((write(tmp_path / "docs", pages),), tmp_path / "data")


def paths(searched: Docs, query: str) -> list[str]:
    return [hit.path for hit in searched.search(query, 10)]


def test_a_page_that_says_it_in_other_words_is_found(searched: Docs) -> None:
    assert paths(searched, "ram") == ["memory.md"]
    assert paths(searched, "out of memory") == ["memory.md"]


def test_the_querys_own_words_come_first(searched: Docs) -> None:
    assert paths(searched, "tls") == ["tls.md", "certificates.md"]
    assert paths(searched, "certificate") == ["certificates.md", "tls.md"]


def test_an_operators_synonyms_find_pages(searched: Docs, tmp_path: Path) -> None:
    ours = Docs(searched.directories, tmp_path / "data", synonyms=groups_in("blimp, memory"))

    assert (paths(searched, "blimp"), paths(ours, "blimp")) == ([], ["memory.md"])


def test_a_name_has_no_synonyms_in_it(searched: Docs) -> None:
    connection = searched.upkeep.opened().connection

    assert read_query(connection, "ram_limit lock", synonyms()).synonyms == ("freeze", "pin")
    assert read_query(connection, "out-of-memory", synonyms()).synonyms == ("memory", "ram", "oom")


def test_a_phrase_that_no_section_has_is_no_hit_and_no_damage(searched: Docs) -> None:
    query = read_query(searched.upkeep.opened().connection, "lockfiles", Synonyms(groups_in("lockfile, text file")))

    assert query.expression == '"lockfile" OR "text file"'  # the page has it, across two sections
    assert rank(searched.upkeep.opened().connection, query, 10) == []


def test_a_page_that_has_only_what_is_common_of_a_query_is_left_out(searched: Docs) -> None:
    assert paths(searched, "memory") == ["memory.md"]
    assert paths(searched, "memory of an elephant, says the zookeeper") == []


def test_the_best_page_decides_whether_anything_is_answered(searched: Docs) -> None:
    hits = searched.search("certificate renewed cursor", 10)

    assert [hit.path for hit in hits] == ["certificates.md", "cursor.md", "tls.md"]


def test_pages_with_far_less_than_the_best_one_are_left_out(searched: Docs, monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths(searched, "memory that an instance may take, of interest") == ["memory.md"]

    monkeypatch.setattr(ranking, "SHARE", 0)

    assert len(paths(searched, "memory that an instance may take, of interest")) > 1


def test_relevance_is_the_share_of_the_words_and_rare_ones_weigh_more(searched: Docs) -> None:
    connection = searched.upkeep.opened().connection

    def relevance(text: str) -> float:
        query = read_query(connection, text, Synonyms(()))
        match = any_of(["memory"])
        page, section = connection.execute(
            "SELECT page, id FROM section JOIN section_info ON section_info.id = section.rowid WHERE section MATCH ?",
            (match,),
        ).fetchone()
        return Relevance(connection, query).of(page, section)

    assert relevance("memory") == 1
    assert relevance("memroy") == 0.9
    assert 0 < relevance("memory elephant") < 0.5 < relevance("memory interest") < 1


def test_the_first_page_of_every_list_has_the_highest_score(searched: Docs) -> None:
    for query in ("memory", "ram"):
        assert searched.search(query, 10)[0].score == 1


def test_common_words_are_left_out_where_too_many_sections_have_them(
    searched: Docs, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(paths(searched, "interest memory")) > 1

    monkeypatch.setattr(ranking, "MAX_POSTINGS", 5)
    monkeypatch.setattr(ranking, "MAX_SECOND_POSTINGS", 5)

    assert paths(searched, "interest memory") == ["memory.md"]
    assert len(paths(searched, "interest")) > 1  # the rarest there is
