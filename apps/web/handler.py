"""Django's WSGI handler, with a shorter way for calls of tools."""

from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.core.handlers.wsgi import WSGIHandler
from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpRequest, HttpResponseBase
from django.urls import ResolverMatch, resolve
from django.utils.log import log_response

from apps.web.cors import CorsMiddleware
from apps.web.headers import headers_of
from apps.web.middleware import RequestMiddleware
from apps.web.surfaces import surface_of


class Handler(WSGIHandler):
    """A call needs nothing of what is tidied up around each request, but a connection that is still good.

    Of MIDDLEWARE it passes what is for all requests; what is for pages has no hook for it.
    """

    def __init__(self) -> None:
        super().__init__()
        call: Any = convert_exception_to_response(_call)  # it is never async
        self.call: Any = convert_exception_to_response(RequestMiddleware(CorsMiddleware(call)))

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        request = self.request_class(environ)
        if not surface_of(request).is_call:
            return super().__call__(environ, start_response)
        connections[DEFAULT_DB_ALIAS].close_if_unusable_or_obsolete()
        response = self.call(request)
        if response.status_code >= 400:
            log_response("%s: %s", response.reason_phrase, request.path, response=response, request=request)
        start_response(f"{response.status_code} {response.reason_phrase}", list(headers_of(response).values()))
        return [response.content]


def _call(request: HttpRequest) -> HttpResponseBase:
    """A view of tools catches by itself what goes wrong."""
    request.resolver_match = match = _match(request.path_info, settings.ROOT_URLCONF)
    answer: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return answer


@lru_cache(maxsize=256)  # tools are few; what is no path is not kept
def _match(path: str, urlconf: str) -> ResolverMatch:
    return resolve(path, urlconf)
