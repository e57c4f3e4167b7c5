"""Errors of the OAuth endpoints: RFC 6749's JSON, `{"error", "error_description"}`. Nothing internal leaks."""

import logging
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from apps.web.database_errors import is_unavailable, what_failed
from apps.web.errors import request_id_of
from apps.web.exceptions import Refused
from apps.web.render import json_response

log = logging.getLogger("porthole.errors")
NOT_IN_DESCRIPTIONS = re.compile(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]")  # RFC 6749 §5.2
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}  # RFC 6749 §5.1


class OAuthError(Exception):
    """`error` is an error code of the RFCs; `description` a sentence for the client's developer."""

    def __init__(self, error: str, description: str, status: int = 400, headers: dict[str, str] | None = None) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.status = status
        self.headers = headers or {}


def endpoint(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """An endpoint for POST: every error is JSON, and no response is stored by a cache."""

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        try:
            if request.method != "POST":
                raise OAuthError("invalid_request", "Use POST.", 405, {"Allow": "POST, OPTIONS"})
            response = view(request)
        except Exception as error:
            response = respond(_describe(error, request))
        for name, value in NO_STORE.items():
            response.headers[name] = value
        return response

    return answer


def respond_to(request: HttpRequest, refused: Refused) -> HttpResponse:
    """Requests refused before they reach an endpoint, such as unknown paths."""
    error = "server_error" if refused.status >= 500 else "invalid_request"
    if refused.code == "https_required":  # no word of the RFCs tells a client's developer what is wrong
        error = refused.code
    return json_response({"error": error, "error_description": refused.detail}, refused.status)


def respond(error: OAuthError) -> HttpResponse:
    description = NOT_IN_DESCRIPTIONS.sub("?", error.description)  # it may name what somebody sent
    body: dict[str, Any] = {"error": error.error, "error_description": description}
    return json_response(body, error.status, error.headers)


def _describe(error: Exception, request: HttpRequest) -> OAuthError:
    if isinstance(error, OAuthError):
        return error
    fields = {"fields": {"requestId": request_id_of(request)}}
    if is_unavailable(error):
        log.error("the database is not available: %s", what_failed(error), extra=fields)
        return OAuthError("temporarily_unavailable", "The database cannot be reached.", 503, {"Retry-After": "5"})
    log.error("a bug answered a request", exc_info=error, extra=fields)
    return OAuthError("server_error", f"Something went wrong here. The request id is {request_id_of(request)}.", 500)
