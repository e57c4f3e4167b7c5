"""/docs/, the pages below it, the pictures that they use, and /llms.txt: who may read what, and nothing else."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.orgs.models import Membership
from apps.sources.docs import library
from apps.sources.docs.addresses import addresses_of, prefixes
from apps.tools import docs_pages
from apps.web.limits import Buckets
from apps.web.middleware import CONTENT_SECURITY_POLICY
from tests.accounts.visitors import person, visitor
from tests.factories import Fill
from tests.web.test_pages import Markup

PIXEL = b"\x89PNG\r\n\x1a\n"
OWN = {
    "index.md": "# Own pages\n\n[A](guides/a.md) [B](b.md#part) [out](../secret.md) ![p](img/used.png)\n",
    "guides/a.md": "# Page A\n\nAbout harbours.\n\n## First part\n\nText.\n\n## Second\n\n[B](/b.md) [](#first-part)\n",
    "b.md": "# Page B\n\n## Part\n\n![x](../../etc/passwd.png) ![y](.hidden.png) ![z](https://x.example/z.png)\n\n[s](~handbook/secret)\n",
    "notes.txt": "Notes <b>as written</b>\n",
    ".hidden.md": "# Hidden\n",
    "img/used.png": PIXEL,
    "img/unused.png": PIXEL,
    ".hidden.png": PIXEL,
}
PRIVATE = {"index.md": "# Handbook\n\n![p](p.png)\n", "secret.md": "# Plan Zebra\n\nOur harbour.\n", "p.png": PIXEL}


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.fixture(autouse=True)
def folders(settings: Any, tmp_path: Path) -> tuple[Path, Path]:
    """Porthole's own pages, and somebody's handbook."""
    own, private = write(tmp_path / "own", OWN), write(tmp_path / "handbook", PRIVATE)
    write(tmp_path, {"secret.md": "# Outside\n", "secret.png": PIXEL})
    settings.DOCS_DIRS, settings.OWN_DOCS, settings.DATA_DIR = [own, private], own, tmp_path / "data"
    return own, private


@pytest.fixture
def stranger(db: None) -> Client:
    return Client(raise_request_exception=False, headers={"host": "localhost"})


@pytest.fixture
def member(acme: Fill) -> Client:
    user = person()
    Membership.objects.create(organization=acme.organization, user=user)
    return visitor(user)


@pytest.fixture
def limits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(docs_pages, "SEARCHES", Buckets(burst=2, per_second=0.001))


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_a_page_has_its_text_its_parts_and_the_pages_around_it(stranger: Client) -> None:
    page = text(stranger, "/docs/guides/a")
    assert "<title>Page A · Porthole</title>" in page
    assert '<h2 id="first-part">First part</h2>' in page
    assert {"#first-part", "#second", "/docs/b"} <= set(Markup(page).addresses)
    assert 'rel="prev" href="/docs/"' in page
    assert 'rel="next" href="/docs/b"' in page
    assert page.count("<h1>") == 1


def test_a_page_has_the_strict_policy_and_carries_no_script_or_style(stranger: Client) -> None:
    for address in ("/docs/", "/docs/b", "/docs/notes.txt", "/docs/?q=harbour"):
        answer = stranger.get(address)
        assert answer["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
        assert Markup(answer.content.decode()).inline == []
    assert "Notes &lt;b&gt;as written&lt;/b&gt;" in text(stranger, "/docs/notes.txt")


def test_a_reader_who_has_it_gets_304(stranger: Client) -> None:
    for address in ("/docs/b", "/docs/b.md", "/llms.txt", "/docs/", "/docs/img/used.png?page="):
        answer = stranger.get(address)
        assert answer.status_code == 200
        again = stranger.get(address, headers={"if-none-match": answer["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert stranger.post("/docs/b").status_code == 405


def test_a_changed_page_has_another_etag(stranger: Client, folders: tuple[Path, Path]) -> None:
    before = stranger.get("/docs/b")["ETag"]
    (folders[0] / "b.md").write_text("# Page B\n\nOther words.\n")
    assert stranger.get("/docs/b")["ETag"] != before


def test_own_pages_are_everybodys_and_need_no_session(
    stranger: Client, django_assert_num_queries: Any, settings: Any, folders: tuple[Path, Path]
) -> None:
    with django_assert_num_queries(0):
        answer = stranger.get("/docs/b")
    assert (answer["Cache-Control"], "Vary" in answer.headers) == ("public, max-age=0, must-revalidate", False)
    assert "X-Robots-Tag" not in answer.headers
    settings.DOCS_DIRS = [folders[0]]
    with django_assert_num_queries(0):
        assert "public" in stranger.get("/docs/")["Cache-Control"]


@pytest.mark.parametrize("address", ["/docs/~handbook/secret", "/docs/~handbook/nothing", "/docs/~x", "/docs/~"])
def test_a_stranger_is_asked_to_sign_in_whether_or_not_a_page_is_there(stranger: Client, address: str) -> None:
    answer = stranger.get(address)
    assert (answer.status_code, answer["Location"]) == (302, f"/account/login/?next={address}")


def test_somebody_without_an_organization_reads_own_pages_only(db: None) -> None:
    client = visitor(person())
    assert client.get("/docs/~handbook/secret").status_code == 404
    assert "Zebra" not in text(client, "/docs/?q=zebra")


def test_an_operator_reads_the_handbook_with_a_second_factor_where_they_need_one(db: None, settings: Any) -> None:
    client = visitor(person(is_staff=True))
    assert client.get("/docs/~handbook/secret").status_code == 200
    settings.OPERATORS_NEED_SECOND_FACTOR = True
    assert client.get("/docs/~handbook/secret").status_code == 404


def test_a_member_reads_and_finds_the_handbook_and_no_cache_keeps_it(member: Client) -> None:
    answer = member.get("/docs/~handbook/secret")
    assert "Plan Zebra" in answer.content.decode()
    assert (answer["Cache-Control"], answer["X-Robots-Tag"]) == ("private, no-cache", "noindex")
    assert "/docs/~handbook/secret" in Markup(text(member, "/docs/")).addresses
    assert "/docs/~handbook/secret" in Markup(text(member, "/docs/?q=zebra")).addresses
    assert member.get("/docs/~handbook/p.png?page=~handbook/").content == PIXEL
    assert member.get("/docs/~handbook/nothing").status_code == 404


def test_nothing_of_a_handbook_shows_in_what_strangers_see(stranger: Client, member: Client) -> None:
    assert "Zebra" in text(member, "/docs/?q=zebra")  # so it is indexed
    for address in ("/docs/", "/docs/?q=zebra", "/docs/?q=zebr", "/docs/?q=our+harbour", "/llms.txt", "/docs/b"):
        page = text(stranger, address)
        assert "Zebra" not in page
        assert "handbook" not in page.lower()
    assert "Zebra" not in text(member, "/llms.txt")
    for address in ("/docs/secret", "/docs/secret.md", "/docs/p.png?page=~handbook/", "/docs/p.png?page="):
        assert stranger.get(address).status_code == 404
    assert stranger.get("/docs/~handbook/p.png?page=~handbook/").status_code == 302


def test_a_handbook_that_is_public_is_everybodys(stranger: Client, settings: Any) -> None:
    settings.DOCS_PUBLIC = True
    answer = stranger.get("/docs/~handbook/secret")
    assert answer.status_code == 200
    assert "X-Robots-Tag" not in answer.headers
    assert "Plan Zebra" in text(stranger, "/docs/?q=zebra")
    assert "/docs/~handbook/secret.md" in text(stranger, "/llms.txt")


WAYS_OUT = [
    "../secret.md", "..%2fsecret.md", "%2e%2e/secret.md", "%2e%2e%2fsecret.md", "..%252fsecret.md", "..\\secret.md",
    "..%5csecret.md", "guides/../../secret.md", "guides/..%2f..%2fsecret.md", "/etc/passwd", "//etc/passwd",
    "%2fetc%2fpasswd", "file:///etc/passwd", "b.md%00", "%00", "b%00.md", "b\u2028", "./b.md", "guides/./a",
    "guides//a", ".hidden", ".hidden.md", ".hidden.png", ".hidden.png?page=b", "linked", "linked.md",
    "linked-folder/secret", "linked-folder/secret.md", "etc/passwd.png?page=b", "../../etc/passwd.png?page=b",
    "img/unused.png?page=", "img/used.png?page=b", "img/used.png?page=nothing", "img/../img/used.png?page=", "img",
    "img/", "../secret.png?page=", "B", "b.MD", "b.html", "index", "index.md/", "guides/a.md/x", "~handbook/../b",
    "*", "b?x" * 900, "..;/secret.md", "....//secret.md", "%c0%ae%c0%ae/secret.md", "..%c0%afsecret.md", "%ff",
    "a" * 5000, "linked.png?page=linking", "pipe.png?page=linking", "big.png?page=linking",
]  # fmt: skip


def test_no_way_leads_out_of_the_folder(stranger: Client, folders: tuple[Path, Path]) -> None:
    own = folders[0]
    (own / "linked.md").symlink_to(own.parent / "secret.md")
    (own / "linked-folder").symlink_to(own.parent)
    (own / "linked.png").symlink_to(own.parent / "secret.png")
    os.mkfifo(own / "pipe.png")
    (own / "big.png").touch()
    os.truncate(own / "big.png", library.MAX_PICTURE + 1)
    (own / "linking.md").write_text("# L\n\n![a](linked.png) ![b](pipe.png) ![c](big.png)\n")
    assert stranger.get("/docs/linking").content.count(b"?page=linking") == 3
    answers = {way: stranger.get(f"/docs/{way}") for way in WAYS_OUT}
    assert {way: answer.status_code for way, answer in answers.items() if answer.status_code != 404} == {
        "~handbook/../b": 302,  # to the page for signing in
        "b?x" * 900: 200,  # the page b, with a query that nobody reads
    }
    assert not [way for way, answer in answers.items() if PIXEL in answer.content or b"Outside" in answer.content]


def test_a_page_that_became_a_link_elsewhere_is_gone(stranger: Client, folders: tuple[Path, Path]) -> None:
    assert stranger.get("/docs/b").status_code == 200
    (folders[0] / "b.md").unlink()
    (folders[0] / "b.md").symlink_to(folders[0].parent / "secret.md")
    assert stranger.get("/docs/b").status_code == 404
    assert stranger.get("/docs/b.md").status_code == 404


def test_a_picture_is_answered_for_the_page_that_shows_it(stranger: Client) -> None:
    assert "/docs/img/used.png?page=" in Markup(text(stranger, "/docs/")).addresses
    answer = stranger.get("/docs/img/used.png?page=")
    assert (answer.content, answer["Content-Type"], answer["X-Content-Type-Options"]) == (PIXEL, "image/png", "nosniff")
    assert answer["Content-Security-Policy"] == docs_pages.PICTURE_POLICY


def test_the_search_is_a_form_and_shows_words_as_text(stranger: Client) -> None:
    page = text(stranger, "/docs/?q=first%20part")
    assert '<form class="find" role="search" action="/docs/" method="get">' in page
    assert "/docs/guides/a#first-part" in Markup(page).addresses
    for query in ("<script>alert(1)</script>", '" onfocus="x', "\x00", "x" * 9000, "\ud83d", "\u202e"):
        page = text(stranger, "/docs/?q=" + query.encode("utf-8", "replace").decode())
        assert "<script>alert" not in page
        assert Markup(page).inline == []
    assert "Nothing was found" in text(stranger, "/docs/?q=qqqqzzzz")


@pytest.mark.usefixtures("limits")
def test_searches_of_strangers_are_limited_and_members_are_not(stranger: Client, member: Client) -> None:
    statuses = [stranger.get("/docs/?q=harbour").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    refused = stranger.get("/docs/?q=harbour")
    assert int(refused["Retry-After"]) > 0
    assert refused["Content-Type"].startswith("text/html")
    assert stranger.get("/docs/").status_code == 200
    assert {member.get("/docs/?q=harbour").status_code for _ in range(5)} == {200}


def test_without_pages_of_its_own_a_stranger_sees_none(stranger: Client, settings: Any, folders: Any) -> None:
    settings.DOCS_DIRS = [folders[1]]
    assert "There are no pages for you to read here" in text(stranger, "/docs/")
    assert "## Docs" not in text(stranger, "/llms.txt")


def test_llms_txt_says_what_this_is_and_leads_to_each_page(stranger: Client, settings: Any) -> None:
    settings.PUBLIC_URL = "https://porthole.example.com"
    answer = stranger.get("/llms.txt")
    lines = answer.content.decode().splitlines()
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert (lines[0], lines[1], lines[2][:2]) == ("# Porthole", "", "> ")
    assert "- [Page A](https://porthole.example.com/docs/guides/a.md): About harbours." in lines
    assert "- [MCP](https://porthole.example.com/mcp)" in " ".join(lines)
    assert text(stranger, "/docs/guides/a.md") == OWN["guides/a.md"]


def test_a_hostile_page_is_shown_as_it_is_written(stranger: Client, folders: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("apps.sources.docs.rendering.MAX_SECONDS", -1.0)
    (folders[0] / "slow.md").write_text("# Slow <b>\n\n## Part\n")
    page = text(stranger, "/docs/slow")
    assert '<pre class="text"># Slow &lt;b&gt;\n\n<span id="part"></span>## Part' in page


def test_no_two_pages_have_one_address() -> None:
    files = [
        "index.md",
        "README.md",
        "a.md",
        "a.mdx",
        "a.txt",
        "a/index.md",
        "a/README.rst",
        "a.md.md",
        "x/readme.markdown",
    ]
    found = addresses_of(files)
    assert found == {
        "index.md": "", "README.md": "README.md", "a.md": "a", "a.mdx": "a.mdx", "a.txt": "a.txt", "a/index.md": "a/",
        "a/README.rst": "a/README.rst", "a.md.md": "a.md", "x/readme.markdown": "x/",
    }  # fmt: skip
    assert len(set(found.values())) == len(files)


def test_each_directory_has_addresses_of_its_own(tmp_path: Path) -> None:
    own, one, two = tmp_path / "docs", tmp_path / "a/docs", tmp_path / "b/docs"
    assert prefixes([one, own, two, tmp_path / "Hand book"], own) == ("~docs/", "", "~docs~2/", "~Hand-book/")
