"""Views that allow only GET and HEAD."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from apps.web.errors import respond
from apps.web.exceptions import Refused

View = Callable[..., HttpResponse]


def require_safe(view: View) -> View:
    """Like Django's, but with the API's JSON for a 405, which comes before any check of a form: there is none."""

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return view(request, *args, **kwargs)
        return respond(
            request, Refused(405, "method_not_allowed", "Read it with GET.", {"Allow": "GET, HEAD, OPTIONS"})
        )

    return answer
