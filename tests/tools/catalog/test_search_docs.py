"""search_docs. How pages are cut, indexed and ranked: tests/sources/docs/."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from apps.tools.registry import TOOLS
from tests.api import Api
from tests.tools.catalog.contract import notation

PAGES = {
    "index.md": "# Welcome\n\nStart with the quickstart.\n",
    "guides/tokens.md": "# Tokens\n\nWho may ask.\n\n## Revoking a token\n\nA revoked token stops at once.\n",
    "guides/previews.md": "# Previews\n\nA preview runs a pull request.\n\n## Expiry\n\nIt expires after a week.\n",
    "ignored.txt.bak": "token token token",
}


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    """The only documentation there is."""
    folder = tmp_path / "docs"
    for name, text in PAGES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    settings.DOCS_DIRS, settings.DATA_DIR, settings.DOCS_BASE_URL = [folder], tmp_path, ""
    return folder


def paths(api: Api, query: str, **inputs: Any) -> list[str]:
    return [hit["path"] for hit in api("search_docs", query=query, **inputs)["items"]]


def test_it_answers_what_the_contract_says() -> None:
    output = TOOLS["search_docs"].Output
    assert notation(output) == ("{items[{id,title,section?,path,url?,anchor?,snippet,score}],nextCursor?,syncedAt?}")


def test_a_page_is_found_with_the_section_that_fits_best(api: Api) -> None:
    answer = api("search_docs", query="revoked token")
    (hit,) = answer["items"]
    assert hit.pop("id").startswith("doc_")
    assert 0 < hit.pop("score") <= 1
    assert hit == {
        "title": "Tokens",
        "section": "Revoking a token",
        "path": "guides/tokens.md",
        "url": "http://localhost:8000/docs/~docs/guides/tokens#revoking-a-token",
        "anchor": "revoking-a-token",
        "snippet": "A revoked token stops at once.",
    }
    assert answer["nextCursor"] is None


def test_the_answer_says_when_the_index_was_built(api: Api) -> None:
    built = datetime.fromisoformat(api("search_docs", query="token")["syncedAt"])
    assert abs(datetime.now(UTC) - built) < timedelta(minutes=5)


def test_a_hit_has_an_address_where_the_documentation_is_published(api: Api, settings: Any) -> None:
    settings.DOCS_BASE_URL = "https://docs.example.com/porthole/"
    (hit,) = api("search_docs", query="revoked")["items"]
    assert hit["url"] == "https://docs.example.com/porthole/guides/tokens#revoking-a-token"


def test_better_pages_come_first_and_at_most_so_many(api: Api, folder: Path) -> None:
    for number in range(25):
        (folder / f"{number:02}.md").write_text(f"# Page {number}\n\n" + "harbour " * (number % 5 + 1) + "words " * 20)
    scores = [hit["score"] for hit in api("search_docs", query="harbour", limit=20)["items"]]
    assert len(scores) == 20
    assert scores == sorted(scores, reverse=True)
    assert len(paths(api, "harbour")) == 5
    assert paths(api, "harbour", limit=1) == paths(api, "harbour")[:1]
    assert len(set(paths(api, "harbour", limit=20))) == 20


@pytest.mark.parametrize(
    ("limit", "problem"),
    [(0, "min_value"), (21, "max_value"), (-1, "min_value"), ("5", "invalid"), (1.5, "invalid"), (None, "null")],
)  # fmt: skip
def test_a_limit_is_1_to_20(api: Api, limit: Any, problem: str) -> None:
    assert api.refused("search_docs", query="token", limit=limit) == [("limit", problem)]


@pytest.mark.parametrize(
    ("query", "problem"), [("", "blank"), ("x" * 513, "max_length"), (7, "invalid"), (None, "null"), (["x"], "invalid")]
)
def test_a_query_is_text_of_1_to_512_characters(api: Api, query: Any, problem: str) -> None:
    assert api.refused("search_docs", query=query) == [("query", problem)]


def test_there_are_no_cursors(api: Api) -> None:
    assert api.refused("search_docs", query="token", cursor="x") == [("cursor", "unknown_key")]


@pytest.mark.parametrize("query", ["zzzz", " ", "\n", "?!", "*", '"', "🦀", "x" * 512])
def test_nothing_found_is_an_empty_list(api: Api, query: str) -> None:
    assert api("search_docs", query=query)["items"] == []


@pytest.mark.parametrize(
    "query",
    [
        '"token', "token*", "token AND", "NOT token", "NEAR(revoked token)", "title:revoked token", "token)", "(token",
        "^token", "{a b}: revoked token", "-token", "revoked token stops; DROP", "token'", "\x01token", "token\\",
        "TOKEN", "tökén token",
    ],
)  # fmt: skip
def test_the_search_engines_own_syntax_is_only_words(api: Api, query: str) -> None:
    assert "guides/tokens.md" in paths(api, query)


def test_without_documentation_nothing_is_found(api: Api, settings: Any, tmp_path: Path) -> None:
    settings.DOCS_DIRS = [tmp_path / "nowhere"]
    assert paths(api, "token") == []


@pytest.mark.parametrize("character", ["𝔘", '"', "é"])
def test_the_longest_answer_fits(api: Api, folder: Path, character: str) -> None:
    word = "harbour"
    deep = folder.joinpath(*["p" * 120] * 4)
    deep.mkdir(parents=True)
    for number in range(20):
        text = f"# {word} {character * 300}\n\n## {word} {character * 300}\n\n{word} {character * 900}\n"
        (deep / f"{number:02}.md").write_text(text)
    response = api.post("search_docs", {"query": word, "limit": 20})
    assert response.status_code == 200
    assert len(response.content) <= 64 * 1024
    assert len(response.json()["items"]) >= 10
