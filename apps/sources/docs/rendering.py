"""A page → HTML that is safe to show: none of its own markup, the anchors that the search gives, links that lead here.

markdown-it-py makes tokens of it. What the page has of HTML is taken out of them, so only what that library and this
module write becomes markup.
"""

import re
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import takewhile, zip_longest
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

MAX_MARKDOWN = 256 * 1024  # characters that are formatted; a longer page is shown as it is written
MAX_SECONDS = 1.0  # of this thread's time for one page

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<[/!?A-Za-z][^<>]{0,2000}>")
_PROGRAM = re.compile(r"\s*<(?:script|style|textarea)", re.IGNORECASE)
_ALIGNED = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}

Target = Callable[[str], str | None]


class TooSlow(Exception):
    """The page takes longer than MAX_SECONDS."""


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """`has_title`: a heading of the first level is in it."""

    html: str
    headings: tuple[Heading, ...] = ()
    has_title: bool = False


@dataclass(slots=True)
class _Page:
    """What is known while one page is made."""

    anchors: list[tuple[int, str]]  # line and anchor, not yet in the page
    link: Target
    image: Target
    headings: list[Heading] = field(default_factory=list)
    has_title: bool = False


def render(lines: Sequence[str], anchors: Mapping[int, str], link: Target, image: Target) -> Rendered:
    """Markdown as HTML. `anchors` by line: all of them will be there. Raises TooSlow.

    `link` and `image` say where an address of the page leads; None where a reader cannot follow it: its text stays.
    """
    if sum(map(len, lines)) + len(lines) > MAX_MARKDOWN:
        raise TooSlow
    env: MutableMapping[str, Any] = {"until": time.thread_time() + MAX_SECONDS}
    page = _Page(sorted(anchors.items()), link, image)
    tokens = _in_place(_MARKDOWN.parse("\n".join(lines), env), page)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, env)
    return Rendered(html, tuple(page.headings), page.has_title)


def render_plain(lines: Sequence[str], anchors: Mapping[int, str]) -> Rendered:
    """Text as it is written."""
    marked = (f"{_target(anchors[n])}{escape(line)}" if n in anchors else escape(line) for n, line in enumerate(lines))
    return Rendered('<pre class="text">' + "\n".join(marked) + "</pre>\n")


def _in_place(tokens: list[Token], page: _Page) -> list[Token]:
    """The tokens with anchors, and with nothing that leads astray."""
    placed: list[Token] = []
    for token, after in zip_longest(tokens, tokens[1:]):
        if token.level == 0 and token.map and token.nesting >= 0:
            placed += _anchored(token, token.map[1], after, page)
        if token.type == "heading_open" and token.tag == "h1":
            page.has_title = True
        if token.type == "inline":
            token.children = _safe_children(token.children or [], page)
        placed.append(token)
    placed += [_anchor(anchor) for _, anchor in page.anchors]
    return placed


def _anchored(token: Token, end: int, after: Token | None, page: _Page) -> list[Token]:
    """The anchors that belong before this block, which ends before the line `end`. A heading takes its own."""
    reached = [anchor for _, anchor in takewhile(lambda anchor: anchor[0] < end, page.anchors)]
    page.anchors = page.anchors[len(reached) :]
    if reached and token.type == "heading_open":
        token.attrSet("id", own := reached.pop())
        text = " ".join(_text(after.children or []).split()) if after else ""
        page.headings.append(Heading(int(token.tag[1]), text or own, own))
    return [_anchor(anchor) for anchor in reached]


def _safe_children(children: list[Token], page: _Page) -> list[Token]:
    """The text of a paragraph: links and pictures lead where `page` says, or are their text."""
    safe: list[Token] = []
    open_links: list[bool] = []  # whether each one leads somewhere
    for token in children:
        match token.type:
            case "html_inline":
                continue
            case "link_open":
                open_links.append(_lead(token, page))
                if open_links[-1]:
                    safe.append(token)
            case "link_close":
                if open_links.pop():
                    safe.append(token)
            case "image":
                safe += _image(token, page, is_in_link=any(open_links))
            case _:
                safe.append(token)
    return safe


def _lead(token: Token, page: _Page) -> bool:
    """Sets where a link leads; false: nowhere."""
    target = page.link(str(token.attrGet("href") or ""))
    if target is None:
        return False
    token.attrs = {"href": target}
    if not target.startswith(("/", "#")):
        token.attrSet("rel", "nofollow noopener noreferrer")
    return True


def _image(token: Token, page: _Page, is_in_link: bool) -> list[Token]:
    """The picture, or a link to where it is elsewhere: this page asks no other site for anything."""
    source, text = str(token.attrGet("src") or ""), _text(token.children or [])
    if address := page.image(source):
        token.attrs = {"src": address, "alt": text}
        token.children = [Token("text", "", 0, content=text)]
        return [token]
    written = Token("text", "", 0, content=text or "picture")
    target = None if is_in_link else page.link(source)
    if target is None:
        return [written]
    opened = Token("link_open", "a", 1, attrs={"href": target, "rel": "nofollow noopener noreferrer"})
    return [opened, written, Token("link_close", "a", -1)]


def _text(children: Sequence[Token]) -> str:
    """What people see of a heading or of a picture's description."""
    words = (
        _text(token.children or [])
        if token.type == "image"
        else " "
        if token.type in ("softbreak", "hardbreak")
        else token.content
        if token.type in ("text", "code_inline")
        else ""
        for token in children
    )
    return "".join(words)


def _anchor(anchor: str) -> Token:
    return Token("anchor", "", 0, content=anchor)


def _target(anchor: str) -> str:
    return f'<span id="{escape(anchor)}"></span>'


# How tokens are written where the library would do it otherwise


def _write_anchor(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return _target(tokens[at].content) + "\n"


def _write_block_of_html(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """The words between its tags."""
    content = tokens[at].content
    if _PROGRAM.match(content):
        return ""
    words = unescape(_TAG.sub(" ", _COMMENT.sub(" ", content))).split()
    return f"<p>{escape(' '.join(words))}</p>\n" if words else ""


def _write_code(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    # Wide ones are scrolled, by keyboard too.
    return f'<pre class="command" tabindex="0"><code>{escape(tokens[at].content)}</code></pre>\n'


def _write_table(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return '<div class="wide" tabindex="0"><table>\n'


def _write_end_of_table(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def _write_cell(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Aligned by a class: the page's policy allows no style of its own."""
    token = tokens[at]
    aligned = _ALIGNED.get(str(token.attrGet("style") or ""))
    return f'<{token.tag} class="{aligned}">' if aligned else f"<{token.tag}>"


def _write_nothing(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return ""


def _look_at_the_clock(state: StateBlock | StateInline, *where: Any) -> bool:
    """A rule that never applies: it is asked at each line and at each place in one."""
    if time.thread_time() > state.env["until"]:
        raise TooSlow
    return False


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": True, "xhtmlOut": False}).enable(["table", "strikethrough"])
    markdown.block.ruler.before("table", "clock", _look_at_the_clock, {"alt": ["paragraph", "reference", "blockquote"]})
    markdown.inline.ruler.before("text", "clock", _look_at_the_clock)
    for name, rule in {
        "anchor": _write_anchor,
        "html_block": _write_block_of_html,
        "html_inline": _write_nothing,
        "fence": _write_code,
        "code_block": _write_code,
        "table_open": _write_table,
        "table_close": _write_end_of_table,
        "th_open": _write_cell,
        "td_open": _write_cell,
    }.items():
        markdown.add_render_rule(name, rule)
    return markdown


_MARKDOWN = _markdown()
