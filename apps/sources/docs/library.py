"""The pages themselves: as HTML, as they are written, by section, and the pictures that they use."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from posixpath import normpath
from urllib.parse import quote, unquote, urlsplit

from apps.sources.docs import rendering
from apps.sources.docs.addresses import url_of
from apps.sources.docs.chunks import Section, is_markdown, normalized, parse, written_lines
from apps.sources.docs.contents import Contents, Entry, read_inside
from apps.sources.docs.corpus import Docs
from apps.sources.docs.index import MAX_BYTES
from apps.sources.docs.rendering import Rendered

PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
}
MAX_PICTURE = 5 * 1024 * 1024
MAX_FOLLOWED = 50  # pages of directories that are read to put the others in order


@dataclass(frozen=True, slots=True)
class Shown:
    """A page, ready to be shown. `links` are the pages that it leads to, `pictures` the files that it shows."""

    rendered: Rendered
    links: tuple[Entry, ...]
    pictures: frozenset[str]


def text_of(docs: Docs, entry: Entry) -> str | None:
    """What is in the file now, without what nobody sees; None where it is gone."""
    raw = read_inside(docs.directories[entry.root], entry.path, MAX_BYTES)
    return None if raw is None else normalized(raw.decode(errors="replace"))


def size_of(docs: Docs, entry: Entry) -> int:
    """In bytes; 0 where the file is gone."""
    try:
        return (docs.directories[entry.root] / entry.path).stat().st_size
    except OSError:
        return 0


def show(docs: Docs, entry: Entry) -> Shown | None:
    """None where the file is gone."""
    text = text_of(docs, entry)
    return None if text is None else _show(docs.contents(), docs.home, entry, text)


@lru_cache(maxsize=64)
def _show(contents: Contents, home: str, entry: Entry, text: str) -> Shown:
    if not is_markdown(entry.path):
        return Shown(rendering.render_plain(text.split("\n"), {}), (), frozenset())
    anchors = {section.line: section.anchor for section in parse(entry.path, text).sections if section.anchor}
    lines = written_lines(entry.path, text)
    targets = _Targets(contents, urlsplit(home).path, entry)
    try:
        rendered = rendering.render(lines, anchors, targets.link, targets.picture)
    except rendering.TooSlow:
        return Shown(rendering.render_plain(lines, anchors), (), frozenset())
    return Shown(rendered, tuple(targets.links), frozenset(targets.pictures))


class _Targets:
    """Where a page's links lead, and which of them lead to pages and pictures here."""

    def __init__(self, contents: Contents, home: str, entry: Entry) -> None:
        self.contents = contents
        self.home = home
        self.entry = entry
        self.links: dict[Entry, None] = {}
        self.pictures: set[str] = set()

    def link(self, target: str) -> str | None:
        """To another site, to a place on this page, or to another page; None for all else."""
        try:
            parts = urlsplit(target)
        except ValueError:
            return None
        if parts.scheme or parts.netloc:
            return target if parts.scheme in ("https", "http", "mailto") else None
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        if not parts.path:
            return anchor or None
        if (entry := self._page(parts.path)) is None:
            return None
        self.links[entry] = None
        address = url_of(self.home, entry.address)
        return address and address + anchor

    def _page(self, path: str) -> Entry | None:
        """The page that a link means: by its file, or by its address."""
        if (inside := self._inside(path)) is None:
            return None
        if entry := self.contents.by_file.get((self.entry.root, inside)):
            return entry
        return self.contents.find(self.entry.prefix + inside)

    def picture(self, source: str) -> str | None:
        """Its address, which names this page: only a picture that is used by a page is answered."""
        try:
            parts = urlsplit(source)
        except ValueError:
            return None
        if parts.scheme or parts.netloc or (inside := self._inside(parts.path)) is None:
            return None
        if PurePosixPath(inside).suffix.lower() not in PICTURES:
            return None
        self.pictures.add(inside)
        address = url_of(self.home, self.entry.prefix + inside)
        return address and f"{address}?page={quote(self.entry.address, safe='/~')}"

    def _inside(self, path: str) -> str | None:
        """A path from the directory's top; None outside of it, and for names that begin with a dot."""
        path = unquote(path)
        folder = PurePosixPath() if path.startswith("/") else PurePosixPath(self.entry.path).parent
        inside = normpath(f"{folder}/{path.lstrip('/')}")
        if inside == ".":
            return ""
        hidden = any(part.startswith(".") for part in inside.split("/"))
        return None if hidden or inside.startswith("/") or not inside.isprintable() else inside


def picture(docs: Docs, address: str, page: str) -> tuple[bytes, str] | None:
    """A picture and its media type; None unless the page at the address `page` shows it."""
    entry = docs.contents().find(page)
    if entry is None or not address.startswith(entry.prefix) or (shown := show(docs, entry)) is None:
        return None
    path = address.removeprefix(entry.prefix)
    if path not in shown.pictures:
        return None
    content = read_inside(docs.directories[entry.root], path, MAX_PICTURE)
    return None if content is None else (content, PICTURES[PurePosixPath(path).suffix.lower()])


# The order in which pages are read


def neighbours(docs: Docs, entry: Entry) -> tuple[Entry | None, Entry | None]:
    """The pages before and after this one, in the order in which the pages of directories name them."""
    order = _order(docs, docs.contents(), entry.prefix)
    if entry not in order:
        return None, None
    at = order.index(entry)
    return (order[at - 1] if at else None), (order[at + 1] if at + 1 < len(order) else None)


@lru_cache(maxsize=16)
def _order(docs: Docs, contents: Contents, prefix: str) -> list[Entry]:
    """A directory's page is followed by those that it names below it."""
    first = contents.find(prefix)
    pending = [first] if first else []
    order: dict[Entry, None] = {}
    followed = 0
    while pending:
        entry = pending.pop()
        if entry in order:
            continue
        order[entry] = None
        is_directory = entry.address == entry.prefix or entry.address.endswith("/")
        if is_directory and followed < MAX_FOLLOWED and (shown := show(docs, entry)):
            followed += 1
            pending += [linked for linked in reversed(shown.links) if linked.address.startswith(entry.address)]
    return list(order)


# Sections, for those who read pages one part at a time


def sections_of(entry: Entry, text: str) -> Sequence[Section]:
    """Those that can be linked to."""
    if not is_markdown(entry.path):
        return ()
    return [section for section in parse(entry.path, text).sections if section.anchor]


def section_text(entry: Entry, text: str, anchor: str) -> str | None:
    """A section with those below it, as it is written; None where there is no such anchor."""
    sections = sections_of(entry, text)
    at = next((n for n, section in enumerate(sections) if section.anchor == anchor), None)
    if at is None:
        return None
    begin = sections[at]
    end = next((section.line for section in sections[at + 1 :] if section.level <= begin.level), None)
    return "\n".join(written_lines(entry.path, text)[begin.line : end]).rstrip() + "\n"
