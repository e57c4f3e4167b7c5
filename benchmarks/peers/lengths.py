"""The one middleware that keep-alive wants: the length of the answer, so that no server has to send it in chunks."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase


def content_length(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers["Content-Length"] = str(len(response.content))  # type: ignore[attr-defined]
        return response

    return answer
