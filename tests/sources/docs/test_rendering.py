"""Pages as HTML: nothing of a page becomes markup of its own, and every anchor of the search is there."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.docs import rendering
from apps.sources.docs.chunks import parse, written_lines
from apps.sources.docs.rendering import TooSlow, render, render_plain
from tests.examples import examples

TAGS = {"a", "blockquote", "br", "code", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li"}
TAGS |= {"ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
ATTRIBUTES = {"href", "rel", "id", "src", "alt", "class", "start", "tabindex", "title"}


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", {}))

    def handle_decl(self, decl: str) -> None:
        self.found.append(("declaration", {}))

    unknown_decl = handle_pi = handle_decl

    def ids(self) -> list[str | None]:
        return [attributes["id"] for _, attributes in self.found if "id" in attributes]


def as_html(text: str, link: Any = lambda target: None, picture: Any = lambda source: None) -> str:
    lines = written_lines("page.md", text)
    anchors = {section.line: section.anchor for section in parse("page.md", text).sections if section.anchor}
    return render(lines, anchors, link, picture).html


def check(html: str) -> None:
    for tag, attributes in Tags(html).found:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES
        assert not (attributes.get("href") or "").lower().strip().startswith(("javascript:", "data:", "vbscript:"))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", "<style>*{display:none}</style>", "a <script>alert(1)</script> b",
        "<img src=x onerror=alert(1)>", "a <img src=x onerror=alert(1)> b", "<svg/onload=alert(1)>",
        "<iframe src=//evil.example></iframe>", '<div onclick="x"\n>\n\ntext', "<!-- a --><script>1</script>",
        "<scr<script>ipt>alert(1)</scr</script>ipt>", "<div>&lt;script&gt;alert(1)&lt;/script&gt;</div>",
        "[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](java&#10;script:alert(1))",
        "<javascript:alert(1)>",        "[a](data:text/html,x)", "![a](javascript:alert(1))", '[a](https://x.example/"onclick="alert(1))',
        '![" onerror="alert(1)](x.png)', '[a](https://x.example "t\\" onclick=\\"x")', "# a {#x\"onclick=alert(1)}",
        "```html\n<script>alert(1)</script>\n```", '``` " onclick="x\na\n```', "    <script>alert(1)</script>",
        "| <script>alert(1)</script> |\n| --- |\n| <b onclick=x>y</b> |", "<![CDATA[<script>alert(1)</script>]]>",
        "<?php echo 1 ?>", "<!DOCTYPE html>", "&lt;script&gt;alert(1)&lt;/script&gt;", "`<script>alert(1)</script>`",
        "[a]: javascript:alert(1)\n\n[a]", "<a href=\"javascript:alert(1)\">x</a>", "</article></main><form action=/x>",
    ],
)  # fmt: skip
def test_nothing_of_a_page_becomes_markup_of_its_own(text: str) -> None:
    for wanted in (text, f"> {text}", f"- {text}", f"# {text}", f"words\n{text}"):
        check(as_html(wanted, link=lambda t: t if t.startswith("https://") else None, picture=lambda s: None))
        check(as_html(wanted, link=lambda t: None, picture=lambda s: f"/docs/{s}" if ":" not in s else None))


LINES = st.lists(
    st.sampled_from(
        ["# a", "## a", "## b {#b}", "a", "===", "---", "", "> # q", "- # l", "   ## c ##", "```", "~~~", "<!--", "-->",
         "<div>", "</div>", "<script>", "    # code", "| a |", "| - |", "[x]: y", "#", "## <b>x</b>", "1. a", "\t# t"]
    ),
    max_size=14,
)  # fmt: skip


@examples(150)
@given(LINES)
def test_every_anchor_of_the_search_is_on_the_page_once(lines: list[str]) -> None:
    text = "\n".join(lines)
    wanted = [section.anchor for section in parse("page.md", text).sections if section.anchor]
    html = as_html(text)
    check(html)
    assert sorted(map(str, Tags(html).ids())) == sorted(wanted)


def test_a_heading_has_its_anchor_and_is_told_for_the_table_of_contents() -> None:
    lines = ["---", "title: T", "---", "# T", "", "## The `first` one", "", "Second", "------", "", "### Deep *er*"]
    text = "\n".join(lines)
    anchors = {section.line: section.anchor for section in parse("p.md", text).sections if section.anchor}
    rendered = render(written_lines("p.md", text), anchors, lambda t: None, lambda s: None)
    assert '<h2 id="the-first-one">The <code>first</code> one</h2>' in rendered.html
    assert [(h.level, h.text, h.anchor) for h in rendered.headings] == [
        (2, "The first one", "the-first-one"), (2, "Second", "second"), (3, "Deep er", "deep-er"),
    ]  # fmt: skip
    assert rendered.has_title


def test_what_is_a_programs_in_mdx_is_not_shown() -> None:
    text = "import X from 'x'\n\n# Title\n\n<X a={1}>\n\n## Part\n\nwords\n\n</X>\n"
    anchors = {section.line: section.anchor for section in parse("p.mdx", text).sections if section.anchor}
    html = render(written_lines("p.mdx", text), anchors, lambda t: None, lambda s: None).html
    assert "import" not in html
    assert '<h2 id="part">Part</h2>' in html


def test_links_lead_where_they_may_and_else_are_their_text() -> None:
    html = as_html("[a](b.md) [c](d.md) ![e](f.png) ![g](h.png)", {"b.md": "/docs/b"}.get, lambda s: None)
    assert html == '<p><a href="/docs/b">a</a> c e g</p>\n'
    html = as_html("[![a](b.png)](c.md) [x](https://x.example)", lambda t: t, lambda s: f"/docs/{s}")
    assert '<a href="c.md" rel="nofollow noopener noreferrer"><img src="/docs/b.png" alt="a"></a>' in html


def test_comments_are_left_out_and_words_between_tags_stay() -> None:
    html = as_html("<!-- no -->\n\na <!-- no --> b\n\n<details>\n<summary>More &amp; more</summary>\n</details>\n")
    assert (("no" in html), re.findall("<p>(.*?)</p>", html)) == (False, ["a  b", "More &amp; more"])


def test_cells_are_aligned_without_a_style() -> None:
    html = as_html("| a | b |\n| --: | :-: |\n| 1 | 2 |\n")
    assert '<th class="right">a</th>' in html
    assert "style" not in html


@pytest.mark.parametrize(
    "text",
    ["[" * 9000, "> " * 9000, "- " * 9000, "*a " * 9000,
     pytest.param("|a" * 3000 + "\n" + "|-" * 3000 + "\n" + "|a\n" * 3000, marks=pytest.mark.soak),
     "`" * 9000 + "a", "<a " * 9000, "<!--" * 9000, "![" * 4000 + "](a)" * 4000, "\n" * 9000, "[a]: <" * 4000],
)  # fmt: skip
def test_hostile_markdown_is_shown_or_given_up(text: str) -> None:
    try:
        check(as_html(text))
    except TooSlow:
        return


def test_a_page_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MAX_SECONDS", -1.0)
    for text in ("a", "- a\n", "# a"):
        with pytest.raises(TooSlow):
            as_html(text)
    monkeypatch.undo()
    with pytest.raises(TooSlow):
        as_html("a" * (rendering.MAX_MARKDOWN + 1))


def test_text_as_it_is_written_has_the_anchors_too() -> None:
    html = render_plain(["# <b>", "text"], {0: "b"}).html
    assert html == '<pre class="text"><span id="b"></span># &lt;b&gt;\ntext</pre>\n'
