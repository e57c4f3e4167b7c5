"""What people type: nothing they can type breaks the search, and the page they want comes first."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.docs.corpus import Docs
from apps.sources.docs.query import any_of, read_query
from apps.sources.docs.spelling import distance as distance_between
from apps.sources.docs.synonyms import Synonyms
from tests.examples import examples
from tests.sources.docs.test_corpus import write

PAGES = {
    "index.md": "# Overview\n\nDeploy applications, attach domains and read logs. Set environment variables first.\n",
    "deploy/rollback.md": "# Rolling back\n\nReturn to an earlier deployment when a release is broken.\n\n"
    "## From the command line\n\n```sh\nharbor rollback --to <deployment>\n```\n",
    "deploy/previews.md": "# Preview deployments\n\nEvery pull request gets an address of its own.\n\n"
    "## Removing previews\n\nA preview is deleted when its pull request is closed.\n",
    "config/variables.md": "# Environment variables\n\nNames and values that an application reads at start.\n\n"
    "## DATABASE_URL\n\nThe address of the database, with user and password.\n\n"
    "## Build-time variables\n\nVisible to the build only.\n",
    "config/secrets.md": "# Secrets\n\nStored encrypted and shown to nobody. Rotate a secret after a leak.\n",
    "network/domains.md": "# Custom domains\n\nPoint a CNAME record at the edge.\n\n"
    "## Certificates\n\nLet's Encrypt certificates are renewed automatically.\n",
    "network/websockets.md": "# WebSockets\n\nConnections stay open for an hour. The database is not involved.\n",
    "operate/logs.md": "# Logs\n\nThe last thousand lines of each instance; the address of a log drain is a setting.\n",
    "operate/health.md": "# Health checks\n\nAn instance that does not answer `/healthz` is restarted.\n\n"
    "## Timeouts\n\nThe default is five seconds.\n",
    "reference/errors.md": "# Errors\n\n## ERR_BUILD_FAILED\n\nThe build ended with an error.\n\n"
    "## ERR_NO_PORT\n\nThe application listens on no port.\n",
    "reference/größe.md": "# Größe und Café\n\nContainer sizes. 配置文件说明\n",
}
JUDGED = [
    ("how do I roll back a broken release", "deploy/rollback.md", None),
    ("rollback command line", "deploy/rollback.md", "from-the-command-line"),
    ("when is a preview deleted", "deploy/previews.md", "removing-previews"),
    ("environment variables", "config/variables.md", None),
    ("DATABASE_URL", "config/variables.md", "database_url"),
    ("what is the database url for?", "config/variables.md", "database_url"),
    ("ssl certificate renewal", "network/domains.md", "certificates"),
    ("rotating leaked secrets", "config/secrets.md", None),
    ("health check timeout", "operate/health.md", "timeouts"),
    ("ERR_BUILD_FAILED", "reference/errors.md", "err_build_failed"),
    ("enviroment varables", "config/variables.md", None),
    ("websock", "network/websockets.md", None),
    ("cafe container sizes", "reference/größe.md", None),
    ("配置", "reference/größe.md", None),
]
HOSTILE = [
    '"', '""', "'", "*", "a*", "*a", "NEAR(", "NEAR(a b)", "NEAR(a b, 5)", "a AND", "AND", "OR", "NOT", "NOT a",
    "a NOT", "a OR OR b", "(", ")", "(a", "a)", "((((", "col:", "title:logs", "body : logs", "{title body}: a",
    "-x", "- x", "^", "^logs", "a + b", "+", "a ^ b", "\0", "logs\0secret", "a\0", "\ud800", "logs \udfff",
    "'; DROP TABLE page; --", "%", "_", "a\\", "\\", '"' * 512, "(" * 512, "a" * 512, "é" * 512, "NEAR " * 100,
    "a OR " * 128, "日本語", "配置文件", "e\u0301", "\u0301", "\u0301a", "a\u0301\u0301\u0301", "हिन्दी",
    "العَرَبِيَّة", "🚀", "👩‍👩‍👧", "\u200b", "\ufeff", "\u202e", "\U0010ffff", "\ue000", "ß", "İ", "ﬁ", "½", "²",
    "Ⅷ", "ᲀ", "\n\t", " ", "", "rank", "section", "rowid", "-- x", "/* x */", ";", "$1", "?1", ":a", "@a",
    "1 2 3", "1e309", "0x41", ".", "...", "a.b.c", "a-b", "a_b_c", "http://a.b/c?d=e&f=g#h", "C++", "C#", "~",
    "`", "<script>",
]  # fmt: skip


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Docs:
    base = tmp_path_factory.mktemp("judged")
    return Docs((write(base / "docs", PAGES),), base / "data")


@pytest.fixture(scope="module")
def connection(searched: Docs) -> Iterator[sqlite3.Connection]:
    return searched.upkeep.opened().connection


@pytest.mark.parametrize(("query", "path", "anchor"), JUDGED)
def test_the_page_people_mean_comes_first(searched: Docs, query: str, path: str, anchor: str | None) -> None:
    first = searched.search(query, 5)[0]

    assert (first.path, first.anchor) == (path, anchor)


@pytest.mark.parametrize("query", HOSTILE)
def test_search_syntax_is_only_text(searched: Docs, query: str) -> None:
    for limit in (1, 20):
        assert len(searched.search(query, limit)) <= limit


@examples()
@given(query=st.text(st.characters(exclude_categories=()), max_size=600))
def test_no_text_breaks_the_search(searched: Docs, query: str) -> None:
    searched.search(query, 5)


@examples()
@given(pieces=st.lists(st.sampled_from([*HOSTILE, "logs", "domains", " ", "database", "rollback"]), max_size=40))
def test_no_mixture_of_words_and_syntax_breaks_the_search(searched: Docs, pieces: list[str]) -> None:
    for query in ("".join(pieces), " ".join(pieces)):
        hits = searched.search(query, 20)

        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert all(0 < hit.score <= 1 for hit in hits)


def own_expression(connection: sqlite3.Connection, query: str) -> str | None:
    return any_of(read_query(connection, query, Synonyms(())).own)


@pytest.mark.parametrize("query", ["", " ", "?!", "🚀", '"*"', "\u0301", "\0"])
def test_a_query_without_a_word_finds_nothing(searched: Docs, query: str) -> None:
    assert searched.search(query, 5) == []


def test_words_nobody_wrote_find_nothing(searched: Docs) -> None:
    assert searched.search("xqzzyk vwpqj", 5) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("DATABASE_URL", '"database" OR "url" OR "database url"'),
        ("custom domains", '"custom" OR "domains" OR "custom domains"'),
        ("domains, and logs", '"domains" OR "logs"'),
        ("Logs logs LOGS", '"logs" OR "logs logs"'),
        ("the of", '"the" OR "of" OR "the of"'),
        ('logs" OR title:"x', '"logs" OR "title x"'),
        ("certificat", '"certificates"'),
        ("enviroment", '"environment"'),
        ("domians", '"domains"'),
        ("xog", None),
        ("...", None),
    ],
)
def test_a_query_becomes_quoted_words_and_phrases(
    connection: sqlite3.Connection, query: str, expected: str | None
) -> None:
    assert own_expression(connection, query) == expected


def test_a_query_of_stop_words_uses_them(searched: Docs) -> None:
    assert searched.search("the of", 5)


def test_long_queries_are_cut(connection: sqlite3.Connection) -> None:
    every = sorted({word for text in PAGES.values() for word in text.split() if word.isalpha()})
    match = own_expression(connection, " ".join(every)[:2000])

    assert match is not None
    assert len([term for term in match.split(" OR ") if " " not in term]) <= 32
    assert own_expression(connection, "?" * 512 + " logs") is None


@pytest.mark.parametrize(
    ("one", "two", "distance"),
    [
        ("logs", "logs", 0),
        ("domians", "domains", 1),
        ("packge", "package", 1),
        ("enviromnet", "environment", 2),
        ("logs", "domains", 3),
    ],
)
def test_the_distance_counts_slips_up_to_a_limit(one: str, two: str, distance: int) -> None:
    assert distance_between(one, two, 2) == distance_between(two, one, 2) == distance
