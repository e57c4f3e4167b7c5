"""The pages beside the tools: the reader of openapi.json, and where its sign-in ends."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.orgs.callers import SCOPE_NAMES
from apps.web.csp import page_policy
from apps.web.methods import require_safe

# Swagger UI's own pictures are data: addresses in its stylesheet; scripts and styles are files of ours, and no other
# site is asked for anything. docs/security.md says the same.
DOCS_POLICY = page_policy(form_action="'none'")


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The same document as a page to read and try. Swagger UI comes from our own static files."""
    response = render(request, "api_docs.html", {"issuer": settings.PUBLIC_URL, "scopes": SCOPE_NAMES})
    response["Content-Security-Policy"] = DOCS_POLICY
    return response


@require_safe
def signed_in(request: HttpRequest) -> HttpResponse:
    """Where the reference's "Authorize" ends, in a window of its own: its script hands the code to the reference."""
    # The code is in this page's address: it must not go along to anywhere, nor be kept.
    response = render(request, "api_docs_signed_in.html")
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    response["Content-Security-Policy"] = DOCS_POLICY
    return response
