"""Forms that come too late: the page that says so keeps what was typed, to be sent again. No password, no code."""

import re
from urllib.parse import parse_qs, urlsplit

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from apps.web.errors import csrf_failure as plain_refusal
from apps.web.errors import request_id_of
from apps.web.middleware import GetResponse

# What these pages decide is typed text. Consent is not: nobody's decision is kept for later.
PREFIXES = ("/account/", "/admin/")
SECRET = re.compile(r"(?i)pass|code|key|secret|token")
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's CSRF_FAILURE_VIEW. Only what a page of ours has sent is offered again, nothing of another site's."""
    return _page(request, "old") if _can_be_resent(request) else plain_refusal(request)


class ResendMiddleware:
    """Whoever was signed out while a form was open is not sent off to sign in without what they typed."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method == "POST" and _asks_to_sign_in(request, response) and _can_be_resent(request):
            return _page(request, "signed_out")
        return response


def _asks_to_sign_in(request: HttpRequest, response: HttpResponseBase) -> bool:
    if response.status_code != 302:
        return False
    location = urlsplit(response.headers["Location"])
    way_back = parse_qs(location.query).get("next")
    return location.path in (reverse("account_login"), reverse("admin:login")) and way_back == [request.get_full_path()]


def _can_be_resent(request: HttpRequest) -> bool:
    is_form = request.method == "POST" and request.content_type in FORMS
    return is_form and request.path.startswith(PREFIXES) and _is_from_here(request) and bool(_typed(request))


def _is_from_here(request: HttpRequest) -> bool:
    """As the browser says, which no page can change; one that says nothing gets no form."""
    if site := request.headers.get("Sec-Fetch-Site"):
        return site == "same-origin"
    return request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"


def _typed(request: HttpRequest) -> list[tuple[str, str]]:
    names = [name for name in request.POST if not SECRET.search(name)]
    return [(name, value) for name in names for value in request.POST.getlist(name) if value]


def _page(request: HttpRequest, reason: str) -> HttpResponse:
    values = {
        "reason": reason,
        "typed": _typed(request),
        "path": request.get_full_path(),
        "has_secrets": any(SECRET.search(name) for name in request.POST if name != "csrfmiddlewaretoken"),
        "request_id": request_id_of(request),
    }
    response = render(request, "resend.html", values, status=403)
    response.headers["Cache-Control"] = "no-store"
    return response
