"""What is only read says so to every other method."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse

from apps.web.errors import respond
from apps.web.exceptions import Refused

View = Callable[[HttpRequest], HttpResponse]


def reading_only(view: View) -> View:
    """GET and HEAD; anything else is told so in the API's shape."""

    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return view(request)
        return respond(
            request, Refused(405, "method_not_allowed", "Read it with GET.", {"Allow": "GET, HEAD, OPTIONS"})
        )

    return answer
