"""resources/list and resources/read: each page of the documentation, at the address where people read it."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import orjson
from rest_framework import serializers

from apps.sources.docs import corpus, library
from apps.sources.docs.chunks import is_markdown
from apps.sources.docs.contents import Entry
from apps.sources.docs.corpus import Docs, clip
from apps.tools.calls import InsufficientScope
from apps.tools.mcp.messages import INVALID_PARAMS, RpcError
from apps.tools.mcp.server import CACHE, Call, Method, Result
from apps.tools.paging import Page, fit
from apps.tools.shapes import Shape
from apps.web.exceptions import InvalidInput, Unavailable
from apps.web.render import encode

SCOPE = "docs:read"
PAGES = 100  # pages that one answer lists, with their sections where they are large
MAX_TEXT = 60 * 1024  # bytes of JSON
MAX_NUMBER = 2**31  # more than any page has sections
CUT = "\n\n[… The rest is left out here. Read the sections: add #anchor to this address, as resources/list does.]\n"


class _Listed(Shape):
    """What Page wants to know of items; these are made here."""

    uri = serializers.CharField()


class DocsResources:
    capabilities: Mapping[str, Any] = {"resources": {}}

    def __init__(self) -> None:
        self.methods: Mapping[str, Method] = {
            "resources/list": self.list,
            "resources/templates/list": self.templates,
            "resources/read": self.read,
        }

    def list(self, call: Call) -> Result:
        """None for a token without the scope: clients ask for the list unasked, and should not ask for consent then."""
        if SCOPE not in call.caller.scopes:
            return {"resources": [], **_cache(call, is_whole=False)}
        cursor = call.params.get("cursor")
        if not isinstance(cursor, str | None):
            raise RpcError(INVALID_PARAMS, "cursor must be a string.")
        page = Page(_Listed, "resources/list", PAGES, cursor, None)
        try:
            after = page.position()
        except InvalidInput:
            raise RpcError(INVALID_PARAMS, "Pass nextCursor of resources/list as cursor, or none to begin.") from None
        listed, end = _after(corpus.all_docs(), after)
        items, encoded = fit([resource for _, resource in listed])
        if len(items) < len(listed):
            end = listed[len(items) - 1][0]
        cursors = {"nextCursor": page.sign(end)} if end else {}
        return {"resources": encoded, **cursors, **_cache(call)}

    def templates(self, call: Call) -> Result:
        """None: every address is in the list."""
        return {"resourceTemplates": [], **_cache(call)}

    def read(self, call: Call) -> Result:
        if SCOPE not in call.caller.scopes:
            raise InsufficientScope(SCOPE)
        uri = call.params.get("uri")
        if not isinstance(uri, str):
            raise RpcError(INVALID_PARAMS, "params.uri must be a string.")
        found = _read(corpus.all_docs(), uri)
        if found is None:
            raise RpcError(
                INVALID_PARAMS, "There is no such page. See resources/list, or search_docs.", data={"uri": uri[:2048]}
            )
        entry, text = found
        return {"contents": [{"uri": uri, "mimeType": _media_type(entry), "text": _cut(text)}], **_cache(call)}


def links(answer: bytes) -> list[dict[str, Any]]:
    """A block for each hit of search_docs, which leads to its section as a resource."""
    docs = corpus.all_docs()
    try:
        by_id = docs.contents().by_id
    except Unavailable:  # it is being replaced; the answer itself is there
        return []
    hits = orjson.loads(answer)["items"]
    blocks = (_resource(docs, by_id[hit["id"]], hit["anchor"], hit["section"]) for hit in hits if hit["id"] in by_id)
    return [{"type": "resource_link", **block} for block in blocks if block]


Position = list[Any]  # the address of a page, and which of its resources: 0 is the page


def _after(docs: Docs, after: Position | None) -> tuple[list[tuple[Position, dict[str, Any]]], Position | None]:
    """The resources of the next PAGES pages, each with its position; and the last position, where more follows."""
    entries = docs.contents().entries
    address, number = after or ("", -1)
    begin = bisect_left([entry.address for entry in entries], address)  # again, for sections that are not yet told
    end = begin + PAGES
    found = [
        ([entry.address, n], resource)
        for entry in entries[begin:end]
        for n, resource in enumerate(_resources(docs, entry))
        if entry.address != address or n > number
    ]
    return found, [entries[end - 1].address, MAX_NUMBER] if end < len(entries) else None


def _resources(docs: Docs, entry: Entry) -> Iterator[dict[str, Any]]:
    """The page; where it is too large for one answer, its sections too."""
    if resource := _resource(docs, entry):
        yield resource
    text = library.text_of(docs, entry) if library.size_of(docs, entry) > MAX_TEXT // 2 else None
    if text is not None and len(encode(text)) > MAX_TEXT:
        for section in library.sections_of(entry, text):
            if resource := _resource(docs, entry, section.anchor, section.heading):
                yield resource


def _resource(docs: Docs, entry: Entry, anchor: str | None = None, section: str | None = None) -> dict[str, Any] | None:
    """None: the address is too long."""
    uri = docs.url(entry.address, anchor)
    if uri is None:
        return None
    name = f"{entry.prefix}{entry.path}" + (f"#{anchor}" if anchor else "")
    title = clip(f"{entry.title} › {section}" if section else entry.title, 200)
    return {"uri": uri, "name": name, "title": title, "mimeType": _media_type(entry)}


def _media_type(entry: Entry) -> str:
    return "text/markdown" if is_markdown(entry.path) else "text/plain"


def _read(docs: Docs, uri: str) -> tuple[Entry, str] | None:
    """The page or section at an address, as it is written."""
    address, _, anchor = uri.partition("#")
    home = f"{docs.home}/"
    if not address.startswith(home):
        return None
    pages, path = docs.contents(), unquote(address.removeprefix(home))
    entry = pages.find(path) or pages.find_file(path)
    text = library.text_of(docs, entry) if entry else None
    if entry and text is not None and anchor:
        text = library.section_text(entry, text, unquote(anchor))
    return None if entry is None or text is None else (entry, text)


def _cut(text: str) -> str:
    """As much as an answer has room for, whole lines."""
    if len(encode(text)) <= MAX_TEXT:
        return text
    low, high = 0, len(text)
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(encode(text[:middle])) <= MAX_TEXT - len(encode(CUT)) else (low, middle - 1)
    head, _, _ = text[:low].rpartition("\n")
    return (head or text[:low]) + CUT


def _cache(call: Call, is_whole: bool = True) -> Mapping[str, Any]:
    if not call.era.is_modern:
        return {}
    return CACHE if is_whole else {**CACHE, "ttlMs": 0}
