"""The documentation as pages: /docs/, each page below it, the pictures that pages use, and /llms.txt.

Porthole's own pages are everybody's. Those of other directories are members', unless DOCS_PUBLIC is on: their
addresses begin with ~, and strangers are asked to sign in whether or not there is such a page.
"""

import time
from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from hashlib import sha256
from itertools import groupby
from math import ceil
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response, patch_cache_control

from apps.sources.docs import corpus, library
from apps.sources.docs.addresses import FOREIGN
from apps.sources.docs.contents import Contents, Entry
from apps.sources.docs.corpus import Docs, clip
from apps.tools.registry import TOOLS
from apps.web.errors import describe, request_id_of
from apps.web.exceptions import Refused, Unavailable, again_in
from apps.web.limits import Buckets, network_of
from apps.web.methods import require_safe
from apps.web.surfaces import surface_of

MAX_QUERY = 512
HITS = 20
MAX_LISTED = 500  # pages of one folder, on one page
MAX_IN_LLMS = 2000
SEARCHES = Buckets(burst=20, per_second=0.5)  # of strangers, by address
# A picture may be a document of its own (SVG): opened by itself, it is one that can do nothing.
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

View = Callable[..., HttpResponse]


def _page(view: View) -> View:
    """Refusals as pages: too many searches, no index."""

    @require_safe
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except (Refused, Unavailable) as error:
            return surface_of(request).refuse(request, describe(error, request_id_of(request)))

    return answer


@_page
def contents(request: HttpRequest) -> HttpResponse:
    """All pages that this reader may read; with ?q=, those that match."""
    is_member = not corpus.is_all_public() and _is_member(request)
    docs = corpus.all_docs() if is_member else corpus.public_docs()
    query = "".join(c if c.isprintable() else " " for c in request.GET.get("q", ""))[:MAX_QUERY].strip()
    if query and not is_member:
        _count(request)
    page = _found(docs, query) if query else _contents(docs)
    return _answer(request, page.encode(), is_private=not corpus.is_all_public())


def _is_member(request: HttpRequest) -> bool:
    """Whether somebody is signed in who belongs to an organization, or operates the installation."""
    user: Any = request.user
    return bool(user.is_authenticated and (user.memberships.exists() or admin.site.has_permission(request)))


def _count(request: HttpRequest) -> None:
    """Raises Refused, 429, where this address has searched too often."""
    if settings.RATE_LIMITS:
        wait = SEARCHES.take(network_of(request.client_address), time.monotonic())  # type: ignore[attr-defined]
        if wait:
            seconds = ceil(wait)
            detail = f"Too many searches. {again_in(seconds)}"
            raise Refused(429, "rate_limited", detail, {"Retry-After": str(seconds)})


def _found(docs: Docs, query: str) -> str:
    by_id = docs.contents().by_id
    hits = [
        {
            "title": hit.title,
            "section": hit.section,
            "snippet": hit.snippet,
            "url": _path(docs, by_id[hit.id], hit.anchor),
        }
        for hit in docs.search(query, HITS)
        if hit.id in by_id  # the index may be another one by now
    ]
    return render_to_string("docs/found.html", {"query": query, "hits": hits})


def _contents(docs: Docs) -> str:
    pages = docs.contents()
    first = pages.find("")
    shown = library.show(docs, first) if first else None
    folders = [_folder(docs, prefix, list(entries)) for prefix, entries in groupby(pages.entries, lambda e: e.prefix)]
    return render_to_string("docs/contents.html", {"rendered": shown and shown.rendered, "folders": folders})


def _folder(docs: Docs, prefix: str, entries: list[Entry]) -> dict[str, Any]:
    listed = [{"title": entry.title, "url": _path(docs, entry)} for entry in entries[:MAX_LISTED]]
    name = prefix.strip("/").removeprefix(FOREIGN) or "All pages"
    return {"name": name, "pages": listed, "left_out": len(entries) - len(listed)}


@_page
def page(request: HttpRequest, address: str) -> HttpResponse:
    """A page; with its file's ending, as it is written; or a picture that a page shows."""
    is_private = address.startswith(FOREIGN) and not settings.DOCS_PUBLIC
    if is_private and not _is_member(request):
        if request.user.is_authenticated:
            raise Http404
        return redirect_to_login(request.get_full_path())
    docs = corpus.all_docs() if is_private else corpus.public_docs()
    pages = docs.contents()
    if entry := pages.find(address):
        return _shown(request, docs, entry, is_private)
    if entry := pages.find_file(address):
        return _written(request, docs, entry, is_private)
    if picture := library.picture(docs, address, request.GET.get("page", "")):
        return _picture(request, *picture, is_private)
    raise Http404


def _shown(request: HttpRequest, docs: Docs, entry: Entry, is_private: bool) -> HttpResponse:
    shown = library.show(docs, entry)
    if shown is None:
        raise Http404
    around = [near and {"title": near.title, "url": _path(docs, near)} for near in library.neighbours(docs, entry)]
    headings = [heading for heading in shown.rendered.headings if heading.level in (2, 3)]
    values = {"entry": entry, "rendered": shown.rendered, "headings": headings if len(headings) > 1 else []}
    html = render_to_string("docs/page.html", values | dict(zip(("before", "after"), around, strict=True)))
    return _answer(request, html.encode(), is_private)


def _written(request: HttpRequest, docs: Docs, entry: Entry, is_private: bool) -> HttpResponse:
    text = library.text_of(docs, entry)
    if text is None:
        raise Http404
    return _answer(request, text.encode(), is_private, "text/markdown; charset=utf-8")


def _picture(request: HttpRequest, content: bytes, media_type: str, is_private: bool) -> HttpResponse:
    response = _answer(request, content, is_private, media_type)
    response["Content-Security-Policy"] = PICTURE_POLICY
    return response


def _path(docs: Docs, entry: Entry, anchor: str | None = None) -> str:
    """The address on this host, whatever name the reader knows it by."""
    parts = urlsplit(docs.url(entry.address, anchor) or "/docs/")
    return parts.path + (f"#{parts.fragment}" if parts.fragment else "")


def _answer(
    request: HttpRequest, content: bytes, is_private: bool, media_type: str = "text/html; charset=utf-8"
) -> HttpResponse:
    """200, or 304 where the reader has it."""
    response = HttpResponse(content, content_type=media_type)
    response["ETag"] = etag = f'"{sha256(content).hexdigest()[:32]}"'
    if is_private:
        patch_cache_control(response, private=True, no_cache=True)
    else:
        patch_cache_control(response, public=True, max_age=0, must_revalidate=True)
    if is_private and request.resolver_match and request.resolver_match.url_name == "docs-page":
        response["X-Robots-Tag"] = "noindex"
    return cast(HttpResponse, get_conditional_response(request, etag=etag, response=response))


@_page
def llms(request: HttpRequest) -> HttpResponse:
    """What this is, and where to read more, for language models (llmstxt.org)."""
    docs = corpus.public_docs()
    return _answer(request, _llms(docs, docs.contents(), settings.PUBLIC_URL), False, "text/plain; charset=utf-8")


@lru_cache(maxsize=4)
def _llms(docs: Docs, pages: Contents, address: str) -> bytes:
    return "\n".join(_lines(docs, pages, address)).encode() + b"\n"


def _lines(docs: Docs, pages: Contents, address: str) -> Iterator[str]:
    yield "# Porthole\n"
    yield (
        "> A read-only window into an organization's deployments: applications, domains, previews, deployments, health,"
        " names of variables, repository files and documentation. Nothing can be changed through it, and it knows no"
        " value of a variable or secret.\n"
    )
    yield f"{len(TOOLS)} tools answer questions about one organization, over MCP and over HTTP. Both need a token.\n"
    yield "## Ways in\n"
    yield f"- [MCP]({address}/mcp): Streamable HTTP; sign in with OAuth, which clients do by themselves"
    yield f"- [OpenAPI]({address}/api/v1/openapi.json): the same tools over HTTP, `POST /api/v1/tools/:name`"
    yield f"- [OAuth metadata]({address}/.well-known/oauth-authorization-server): registration, consent, tokens"
    yield f"- [All pages, and a search]({address}/docs/): for people"
    if pages.entries:
        yield "\n## Docs\n"
    for entry in pages.entries[:MAX_IN_LLMS]:
        title = entry.title.translate({ord("["): "(", ord("]"): ")"})
        # As it is written, where there is such an address: nobody wants to take HTML apart.
        name = entry.prefix + entry.path
        written = pages.find(name) is None
        yield f"- [{clip(title, 200)}]({docs.url(name if written else entry.address)}): {_first_sentence(entry)}"


def _first_sentence(entry: Entry) -> str:
    sentence, stop, _ = entry.summary.partition(". ")
    return clip(sentence + stop.strip(), 160) or entry.path
