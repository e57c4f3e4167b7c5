"""resources/list and resources/read: pages of the documentation, and links to them beside what search_docs finds."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.tools.mcp import resources
from tests.factories import Fill
from tests.tools.mcp.speaking import Mcp

HOME = "http://localhost:8000/docs"
PARTS = 6
WORDS = "harbours" * 1400
BIG = "# Big\n\n" + "".join(f"## Part {n}\n\n{WORDS}\n\n### Deep {n}\n\nend {n}\n\n" for n in range(PARTS))


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    own, other = tmp_path / "own", tmp_path / "handbook"
    own.mkdir()
    other.mkdir()
    (own / "index.md").write_text("# Start\n\nWelcome.\n")
    (own / "tokens.md").write_text(
        "---\ntitle: Tokens\n---\n\nTop.\n\n## Revoking\n\nAt once.\n\n### Deep\n\nMore.\n\n## Last\n"
    )
    (own / "notes.txt").write_text("Notes\n")
    (other / "plan.md").write_text("# Plan\n\n## Zebra crossing\n\nStripes.\n")
    settings.DOCS_DIRS, settings.OWN_DOCS, settings.DATA_DIR = [own, other], own, tmp_path / "data"
    return own


def listed(mcp: Mcp) -> list[dict[str, Any]]:
    """All of them, page by page."""
    found, params = [], {}
    while True:
        result = mcp("resources/list", **params)
        found += result["resources"]
        if "nextCursor" not in result:
            return found
        params = {"cursor": result["nextCursor"]}


def read(mcp: Mcp, uri: str) -> str:
    (content,) = mcp("resources/read", uri=uri)["contents"]
    assert content["uri"] == uri
    assert len(json.dumps(content, ensure_ascii=False).encode()) <= 64 * 1024
    return content["text"]


def test_each_page_is_listed_at_its_address_and_can_be_read(mcp: Mcp) -> None:
    found = listed(mcp)
    assert [(item["uri"], item["title"], item["mimeType"]) for item in found] == [
        (f"{HOME}/", "Start", "text/markdown"),
        (f"{HOME}/notes.txt", "Notes", "text/plain"),
        (f"{HOME}/tokens", "Tokens", "text/markdown"),
        (f"{HOME}/~handbook/plan", "Plan", "text/markdown"),
    ]
    assert [read(mcp, item["uri"]).split()[1] for item in found if "notes" not in item["uri"]] == [
        "Start",
        "title:",
        "Plan",
    ]
    assert mcp("resources/templates/list")["resourceTemplates"] == []


def test_a_section_is_read_with_those_below_it(mcp: Mcp) -> None:
    assert read(mcp, f"{HOME}/tokens#revoking") == "## Revoking\n\nAt once.\n\n### Deep\n\nMore.\n"
    assert read(mcp, f"{HOME}/tokens#deep") == "### Deep\n\nMore.\n"
    assert read(mcp, f"{HOME}/tokens.md#last") == "## Last\n"


def test_a_hit_leads_to_its_section_as_a_resource(mcp: Mcp, settings: Any) -> None:
    settings.DOCS_BASE_URL = "https://docs.example.com"
    result = mcp.tool("search_docs", query="revoking")
    text, *links = result["content"]
    assert json.loads(text["text"]) == result["structuredContent"]
    assert result["structuredContent"]["items"][0]["url"] == "https://docs.example.com/tokens#revoking"
    if mcp.version == "2025-03-26":  # which knows no links
        assert links == []
        return
    assert links == [
        {
            "type": "resource_link", "uri": f"{HOME}/tokens#revoking", "name": "tokens.md#revoking",
            "title": "Tokens › Revoking", "mimeType": "text/markdown",
        }
    ]  # fmt: skip
    assert read(mcp, links[0]["uri"]).startswith("## Revoking\n")


def test_the_list_comes_in_pages_and_each_resource_once(modern: Mcp, folder: Path, monkeypatch: Any) -> None:
    for number in range(7):
        (folder / f"{number}.md").write_text(f"# Page {number}\n")
    (folder / "3.md").write_text(BIG)
    whole = listed(modern)
    monkeypatch.setattr(resources, "PAGES", 2)
    assert listed(modern) == whole
    monkeypatch.setattr(resources, "fit", lambda items: (items[:3], items[:3]))
    assert listed(modern) == whole
    assert len({item["uri"] for item in whole}) == len(whole) == 11 + 2 * PARTS


def test_a_large_page_is_listed_by_section(modern: Mcp, folder: Path) -> None:
    (folder / "big.md").write_text(BIG)
    (folder / "long.txt").write_text("ü" * 100_000)
    uris = [item["uri"] for item in listed(modern) if "/big" in item["uri"]]
    assert uris[:3] == [f"{HOME}/big", f"{HOME}/big#part-0", f"{HOME}/big#deep-0"]
    assert read(modern, uris[0]).endswith(resources.CUT)
    assert "".join(read(modern, uri).strip() for uri in uris[1:] if "part" in uri).count("end") == PARTS
    assert read(modern, f"{HOME}/long.txt").endswith(resources.CUT)


@pytest.mark.parametrize("cursor", ["", "x", "e30", 7, None, {}])
def test_a_cursor_of_elsewhere_is_refused(modern: Mcp, cursor: Any) -> None:
    if cursor is None:
        assert modern("resources/list", cursor=None)["resources"]
    else:
        assert modern.error("resources/list", {"cursor": cursor}) == (200, -32602)


@pytest.mark.parametrize(
    "uri",
    [f"{HOME}/nothing", f"{HOME}/../secret.md", f"{HOME}/%2e%2e/secret.md", f"{HOME}/%00", f"{HOME}/tokens#nothing",
     HOME, "file:///etc/passwd", "/docs/tokens", "https://evil.example/docs/tokens", "", "x" * 5000,
     f"{HOME}/.hidden.md", f"{HOME}/notes.txt#a"],
)  # fmt: skip
def test_what_is_no_page_is_refused(modern: Mcp, uri: str) -> None:
    assert modern.error("resources/read", {"uri": uri}) == (200, -32602)


def test_a_uri_must_be_there(mcp: Mcp) -> None:
    assert mcp.error("resources/read")[1] == -32602


def test_without_the_scope_nothing_is_listed_and_reading_asks_for_it(
    mcp: Mcp, monkeypatch: pytest.MonkeyPatch, acme: Fill
) -> None:
    monkeypatch.setattr(resources, "SCOPE", "other:read")
    assert mcp("resources/list")["resources"] == []
    response = mcp.send("resources/read", {"uri": f"{HOME}/"})
    assert response.status_code == 403
    assert 'error="insufficient_scope"' in response["WWW-Authenticate"]
    assert 'scope="other:read"' in response["WWW-Authenticate"]
    assert "/.well-known/oauth-protected-resource/mcp" in response["WWW-Authenticate"]


def test_the_capability_is_declared(modern: Mcp, handshake: Mcp) -> None:
    assert modern("server/discover")["capabilities"] == {"tools": {}, "resources": {}}
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    assert handshake("initialize", **client)["capabilities"] == {"tools": {}, "resources": {}}
