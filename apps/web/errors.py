"""Every error's JSON: `{"code", "detail", "requestId"}`. The only place that catches everything.

DRF hands exceptions of tool calls to `exception_handler`; Django hands everything else to the handler* views.
"""

import logging
from functools import cache
from http.client import responses
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.template.loader import render_to_string

from apps.web.database_errors import is_unavailable, what_failed
from apps.web.exceptions import ENDED_TOO_EARLY, InvalidInput, Refused, Unavailable, again_in
from apps.web.render import json_response
from apps.web.surfaces import surface_of

log = logging.getLogger("porthole.errors")

PLAIN_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} · Porthole</title></head>
<body><main><p>{status}</p><h1>{title}</h1><p>Request <code>{request_id}</code></p></main></body></html>
"""
INTERNAL = "Something went wrong here. Quote the request id when you report it."


def describe(error: BaseException, request_id: str) -> Refused:
    """What is answered for an exception. A bug is logged with its traceback, and tells nothing but the id."""
    match error:
        case Refused():
            return error
        case InvalidInput():
            refused = Refused(422, "invalid_input", "")
            refused.detail = [problem.as_json() for problem in error.problems]  # type: ignore[assignment]
            return refused
        case Unavailable():
            return _unavailable(str(error), error.retry_after)
        case RequestDataTooBig():
            return Refused(413, "too_large", "The body is too large: ask for less at once.")
        case UnreadablePostError():
            return describe(InvalidInput.because(None, ENDED_TOO_EARLY, "json_invalid"), request_id)
    fields = {"fields": {"requestId": request_id}}
    if is_unavailable(error):
        log.error("the database is not available: %s", what_failed(error), extra=fields)
        return _unavailable("The database cannot be reached.", 5)
    log.error("a bug answered a request", exc_info=error, extra=fields)
    return Refused(500, "internal", INTERNAL)


def _unavailable(sentence: str, retry_after: int) -> Refused:
    return Refused(503, "unavailable", f"{sentence} {again_in(retry_after)}", {"Retry-After": str(retry_after)})


def respond(request: HttpRequest, refused: Refused) -> HttpResponse:
    body = {"code": refused.code, "detail": refused.detail, "requestId": request_id_of(request)}
    return json_response(body, refused.status, refused.headers)


def exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """DRF's EXCEPTION_HANDLER."""
    request = context["request"]._request
    return respond(request, describe(error, request_id_of(request)))


def request_id_of(request: HttpRequest) -> str:
    return getattr(request, "id", "")


# Django's handlers, and what answers before any view


def bad_host(request: HttpRequest) -> HttpResponse:
    return _refuse(request, Refused(400, "bad_host", "This host name is not served here."))


def https_required(request: HttpRequest) -> HttpResponse:
    detail = f"Ask {settings.PUBLIC_URL}: over plain http, others can read what is sent here."
    return _refuse(request, Refused(403, "https_required", detail))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _refuse(request, Refused(400, "bad_request", "The request cannot be read."))


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _page(request, 403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _page(request, 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _refuse(request, Refused(404, "not_found", "There is nothing at this path. See /api/v1/openapi.json."))


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Of pages only; tools have a limit of their own."""
    response = _page(request, 429)
    response["Retry-After"] = "60"
    return response


def database_error(request: HttpRequest, error: BaseException) -> HttpResponse | None:
    """What is answered where the database is why a request failed; None where it is not. For what DRF does not see."""
    return _refuse(request, describe(error, request_id_of(request))) if is_unavailable(error) else None


def server_error(request: HttpRequest) -> HttpResponse:
    return _refuse(request, Refused(500, "internal", INTERNAL))


def _refuse(request: HttpRequest, refused: Refused) -> HttpResponse:
    """In the shape that is expected at this path."""
    return surface_of(request).refuse(request, refused)


def respond_with_page(request: HttpRequest, refused: Refused) -> HttpResponse:
    return _page(request, refused.status, refused.code, refused.headers)


def _page(request: HttpRequest, status: int, code: str = "", headers: dict[str, str] | None = None) -> HttpResponse:
    values = {"status": status, "code": code, "request_id": request_id_of(request), "address": settings.PUBLIC_URL}
    page: str
    try:
        page = render_to_string("error.html", values)
    except Exception as error:  # such as static files that were not collected: the page is what is left when all fails
        _log_once(type(error).__name__)
        page = PLAIN_PAGE.format(title=responses.get(status, "Error"), **values)
    return HttpResponse(page, status=status, headers=headers)


@cache
def _log_once(name: str) -> None:
    """A line for each process, not for each request."""
    log.warning("error.html cannot be rendered: %s", name)
