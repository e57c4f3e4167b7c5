"""The pages and documents beside the tools: the first page, openapi.json and its reader."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import condition

from apps.tools import schema
from apps.tools.base import SCOPE_NAMES
from apps.tools.errors import respond
from apps.tools.exceptions import Refused
from apps.tools.policy import page_policy
from apps.tools.registry import TOOLS


def _etag(request: HttpRequest, *args: Any) -> str:
    return schema.document()[1]


def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document, with a strong ETag; 304 when the caller has it."""
    return _reading_only(request) or _openapi(request)


@condition(etag_func=_etag)
def _openapi(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(schema.document()[0], content_type="application/json")
    patch_cache_control(response, public=True, max_age=0, must_revalidate=True)
    return response


def docs(request: HttpRequest) -> HttpResponse:
    """The same document as a page to read and try. Swagger UI comes from our own static files."""
    refused = _reading_only(request)
    if refused:
        return refused
    response = render(request, "api_docs.html", {"issuer": settings.PUBLIC_URL, "scopes": SCOPE_NAMES})
    response["Content-Security-Policy"] = DOCS_POLICY
    return response


def signed_in(request: HttpRequest) -> HttpResponse:
    """Where the reference's "Authorize" ends, in a window of its own: its script hands the code to the reference."""
    refused = _reading_only(request)
    if refused:
        return refused
    # The code is in this page's address: it must not go along to anywhere, nor be kept.
    response = render(request, "api_docs_signed_in.html")
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    response["Content-Security-Policy"] = DOCS_POLICY
    return response


def home(request: HttpRequest) -> HttpResponse:
    """What somebody sees who opens the address in a browser."""
    # The usual key is public knowledge; one that somebody chose instead is theirs to know.
    bearer = "porthole-local-dev" if settings.LOCAL_DEV_BEARER == "porthole-local-dev" else None
    # Not the Host's: clients compare the address that they were given with the one in the metadata (RFC 9728 §3.3).
    return render(request, "home.html", {"tools": TOOLS.values(), "bearer": bearer, "address": settings.PUBLIC_URL})


def _reading_only(request: HttpRequest) -> HttpResponse | None:
    if request.method in ("GET", "HEAD"):
        return None
    return respond(request, Refused(405, "method_not_allowed", "Read it with GET.", {"Allow": "GET, HEAD, OPTIONS"}))


# Swagger UI's own pictures are data: addresses in its stylesheet; scripts and styles are files of ours, and no other
# site is asked for anything. docs/security.md says the same.
DOCS_POLICY = page_policy(form_action="'none'")
