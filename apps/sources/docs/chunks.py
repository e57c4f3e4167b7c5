"""One file of documentation → a page: its title and its sections, as plain text with the anchors GitHub would give."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import yaml

from apps.sources.docs.markup import plain, title_in
from apps.web.characters import prose

MARKDOWN = frozenset({".md", ".mdx", ".markdown"})
PLAIN = frozenset({".rst", ".txt"})
DIRECTORY_PAGES = frozenset({"index", "readme"})  # files that stand for their directory

# The patterns below are bounded or possessive: a page of 2 MiB of opening brackets must not take minutes.
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,20000}?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})(.*)")
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)(.*)")
_SETEXT = re.compile(r" {0,3}(?:(=+)|-{2,})[ \t]*$")
_NOT_A_SETEXT_TITLE = re.compile(r"[ \t]*(?:[-*+>|<]|\d+[.)] )|    ")
_EXPLICIT_ANCHOR = re.compile(r"[ \t]*\{#([\w.:-]{1,200})\}$")
_ESM = re.compile(
    r"import\s+(?:[\w*${},\s]{1,300}\sfrom\s+)?['\"]|import\s[^'\"{]{0,200}\{[^}]*$"
    r"|export\s+(?:default|const|let|var|function|class|async|type|interface|[{*])"
)
_COMMENT_OR_CODE = re.compile(r"`[^`]*`|<!--|\{/\*")
_COMMENT_END = {"<!--": "-->", "{/*": "*/}"}
_RULE_OF_PUNCTUATION = re.compile(r"(?m)^[ \t]*([^\w\s])\1{2,}[ \t]*$")


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading. `heading` and `anchor` are None for the top of the page."""

    heading: str | None
    trail: str  # the page's title and the headings it stands under, outermost first; "" for the top
    anchor: str | None
    body: str
    level: int = field(default=0, compare=False)  # 1 to 6; 0 for the top
    line: int = field(default=0, compare=False)  # of its heading, from 0, in `written_lines`


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    sections: tuple[Section, ...]  # the top of the page, then one for each heading


@dataclass(slots=True)
class _Block:
    """A heading as written, and the lines up to the next one: (is it code, text)."""

    level: int
    heading: str
    number: int = 0  # the line of the heading
    lines: list[tuple[bool, str]] = field(default_factory=list)


def parse(path: str, text: str) -> Page:
    """The page in `text`; `path` tells the format, and the title where the text has none."""
    text = normalized(text)
    if not is_markdown(path):
        return _plain_page(path, text)
    front, text = _front_matter(text)
    lines = _visible_lines(text.split("\n"))
    return _page(path, front, list(_blocks(_without_esm(lines) if path.lower().endswith(".mdx") else lines)))


def is_markdown(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in MARKDOWN


def normalized(text: str) -> str:
    """The text with one kind of line end, and without what nobody sees."""
    return prose(text, lines=True)


def written_lines(path: str, text: str) -> list[str]:
    """The lines of a page of Markdown, without what stands above it; in MDX with empty ones for what is a program's."""
    _, text = _front_matter(normalized(text))
    lines = text.split("\n")
    if path.lower().endswith(".mdx"):
        visible = list(_visible_lines(lines))
        kept = {number for number, _, _ in _without_esm(visible)}
        for number in {number for number, _, _ in visible} - kept:
            lines[number] = ""
    return lines


def slug(heading: str) -> str:
    """The anchor GitHub gives a heading: lower case, letters, digits, `_` and `-` stay, each space becomes `-`."""
    kept = (c for c in heading.strip().lower() if c in " -" or _is_slug_character(c))
    return "".join(kept).replace(" ", "-")


def _is_slug_character(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LM" or category in ("Nd", "Nl", "Pc")


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """The title and description that YAML at the top names, and the text after it."""
    found = _FRONT_MATTER.match(text)
    if not found:
        return {}, text
    try:
        values = yaml.load(found[1], Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (both are safe)
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: a date such as 2024-99-99
        values = None
    if not isinstance(values, dict):
        return {}, text[found.end() :]
    wanted = {key: values.get(key) for key in ("title", "description")}
    return {key: plain(value) for key, value in wanted.items() if isinstance(value, str)}, text[found.end() :]


def _visible_lines(lines: Iterable[str]) -> Iterator[tuple[int, bool, str]]:
    """(its number, is it code, line), without the lines that open and close code blocks and without comments."""
    fence = comment = ""  # what opened the block we are in; what will end the comment we are in
    for number, line in enumerate(lines):
        if fence:
            if _closes(fence, line):
                fence = ""
            else:
                yield number, True, line
        elif not comment and (opening := _opening(line)):
            fence = opening[1]
            yield number, False, title_in(opening[2])
        else:
            visible, comment = _without_comments(line, comment)
            yield number, False, visible


def _opening(line: str) -> re.Match[str] | None:
    found = _FENCE.match(line)
    # ```like this``` on one line is a code span.
    return None if found is None or (found[1][0] == "`" and "`" in found[2]) else found


def _closes(fence: str, line: str) -> bool:
    line = line.strip()
    return len(line) >= len(fence) and not line.strip(fence[0])


def _without_comments(line: str, end: str) -> tuple[str, str]:
    """What is visible of a line, and what will end the comment that is open after it ("": none)."""
    visible = []
    while line:
        if end:
            _, found, line = line.partition(end)
            if not found:
                break
            end = ""
        elif opening := next((m for m in _COMMENT_OR_CODE.finditer(line) if m[0] in _COMMENT_END), None):
            visible.append(line[: opening.start()])
            line, end = line[opening.end() :], _COMMENT_END[opening[0]]
        else:
            visible.append(line)
            break
    return "".join(visible), end


def _without_esm(lines: Iterable[tuple[int, bool, str]]) -> Iterator[tuple[int, bool, str]]:
    """MDX without its import and export statements, which end where their brackets are closed."""
    depth = 0
    for number, is_code, line in lines:
        if not is_code and (depth > 0 or _ESM.match(line)):
            depth += sum(line.count(c) for c in "([{") - sum(line.count(c) for c in ")]}")
        else:
            yield number, is_code, line


def _blocks(lines: Iterable[tuple[int, bool, str]]) -> Iterator[_Block]:
    """The text before the first heading (level 0), then a block for each heading outside code."""
    block = _Block(0, "")
    for number, is_code, line in lines:
        if not is_code and (atx := _ATX.match(line)):
            yield block
            block = _Block(len(atx[1]), re.sub(r"(?:^|[ \t])#+$", "", atx[2].strip()).strip(), number)
        elif not is_code and (underline := _SETEXT.match(line)) and _can_be_underlined(block.lines):
            _, heading = block.lines.pop()
            yield block
            block = _Block(1 if underline[1] else 2, heading.strip(), number - 1)
        else:
            block.lines.append((is_code, line))
    yield block


def _can_be_underlined(lines: list[tuple[bool, str]]) -> bool:
    """Is the last line a paragraph of its own, so that a line of = or - under it makes it a heading?"""
    if not lines or lines[-1][0] or not lines[-1][1].strip() or _NOT_A_SETEXT_TITLE.match(lines[-1][1]):
        return False
    return len(lines) == 1 or not lines[-2][1].strip()


def _page(path: str, front: dict[str, str], blocks: list[_Block]) -> Page:
    headings = [_heading(block.heading) for block in blocks]
    anchors = _anchors(headings)
    has_h1_on_top = len(blocks) > 1 and blocks[1].level == 1
    h1 = headings[1][0] if has_h1_on_top else ""
    title = front.get("title") or h1 or title_from(path)
    top = " ".join(filter(None, (front.get("description"), _body(blocks[0]), h1 if h1 != title else "")))
    rest = 1
    if has_h1_on_top:  # the page's title and what follows it are the top of the page
        top, rest = f"{top} {_body(blocks[1])}".strip(), 2
    sections = [Section(None, "", None, top)]
    above: list[tuple[int, str]] = []
    for block, (heading, _), anchor in zip(blocks[rest:], headings[rest:], anchors[rest:], strict=True):
        above = [outer for outer in above if outer[0] < block.level]
        trail = " › ".join((title, *(text for _, text in above)))
        sections.append(Section(heading, trail, anchor, _body(block), block.level, block.number))
        above.append((block.level, heading))
    return Page(title, tuple(sections))


def _heading(written: str) -> tuple[str, str | None]:
    """A heading's text, and the anchor it names itself (`## Text {#anchor}`)."""
    explicit = _EXPLICIT_ANCHOR.search(written)
    return (plain(written[: explicit.start()]), explicit[1]) if explicit else (plain(written), None)


def _anchors(headings: list[tuple[str, str | None]]) -> list[str | None]:
    """An anchor for each heading; a repeated one gets -1, -2 as on GitHub. None: nothing to link to."""
    seen: dict[str, int] = {}
    anchors: list[str | None] = []
    for heading, explicit in headings:
        wanted = anchor = explicit or slug(heading)
        while anchor in seen:
            seen[wanted] += 1
            anchor = f"{wanted}-{seen[wanted]}"
        seen[anchor] = 0
        anchors.append(anchor if wanted and len(anchor) <= 200 else None)
    return anchors


def _body(block: _Block) -> str:
    parts: list[str] = []
    written: list[str] = []
    for is_code, line in [*block.lines, (True, "")]:  # the last one flushes what was written before it
        if not is_code:
            written.append(line)
            continue
        if written:
            parts.append(plain("\n".join(written)))
            written = []
        parts.append(line)
    return " ".join(" ".join(parts).split())


def title_from(path: str) -> str:
    """A title made of the file's name, or of its directory's where the file stands for it."""
    file = PurePosixPath(path)
    name = file.parent.name if file.stem.lower() in DIRECTORY_PAGES else file.stem
    words = re.sub(r"[-_\s]+", " ", name).strip()
    return words[:1].upper() + words[1:] or "Documentation"


def _plain_page(path: str, text: str) -> Page:
    lines = _RULE_OF_PUNCTUATION.sub("", text).split("\n")
    title = next((" ".join(line.split()) for line in lines if re.search(r"\w", line)), "") or title_from(path)
    return Page(title, (Section(None, "", None, " ".join(text.split())),))
