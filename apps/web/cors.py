"""CORS: which origins may read responses, and the answer to a preflight.

django-cors-headers has one policy for all paths and answers a preflight with 200; the contract has two policies and
says 204.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers

from apps.net.addresses import is_loopback_origin
from apps.web.headers import headers_of
from apps.web.surfaces import surface_of

ACCEPTED = "Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-Request-Id"
EXPOSED = "WWW-Authenticate, Retry-After, X-Request-Id, ETag"


class CorsMiddleware:
    """For /api/v1/, /mcp and the OAuth endpoints. OPTIONS is answered here, before authentication."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        surface = surface_of(request)
        if surface.is_page:
            return self.get_response(request)
        if request.method == "OPTIONS":
            response: HttpResponseBase = HttpResponse(status=204, headers={"Allow": _methods(surface.any_origin)})
            del response["Content-Type"]
        else:
            response = self.get_response(request)
        _add_headers(request, response, surface.any_origin)
        return response


def _methods(any_origin: bool) -> str:
    return "GET, POST, OPTIONS" if any_origin else "POST, OPTIONS"


def has_disallowed_origin(request: HttpRequest) -> bool:
    """Whether a browser sent this from an origin that is not allowed. Other programs send no Origin."""
    origin = request.META.get("HTTP_ORIGIN")
    return origin is not None and not _is_allowed(origin)


def _is_allowed(origin: str) -> bool:
    return origin in settings.ALLOWED_ORIGINS or (settings.IS_LOCAL and is_loopback_origin(origin))


def _add_headers(request: HttpRequest, response: HttpResponseBase, any_origin: bool) -> None:
    if not any_origin:
        if "vary" in headers_of(response):
            patch_vary_headers(response, ("Origin",))
        else:
            headers_of(response)["vary"] = ("Vary", "Origin")
    origin = request.META.get("HTTP_ORIGIN")
    if origin is None or not (any_origin or _is_allowed(origin)):
        return
    response["Access-Control-Allow-Origin"] = "*" if any_origin else origin
    response["Access-Control-Expose-Headers"] = EXPOSED
    if request.method == "OPTIONS":
        response["Access-Control-Allow-Methods"] = _methods(any_origin)
        response["Access-Control-Allow-Headers"] = ACCEPTED
        response["Access-Control-Max-Age"] = "7200"
