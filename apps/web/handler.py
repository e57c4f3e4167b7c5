"""Django's WSGI handler, with a shorter way for calls of tools."""

from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.db import close_old_connections

from apps.web.surfaces import surface_of


class Handler(WSGIHandler):
    """A call needs nothing of what is tidied up around each request, but a connection that is still good."""

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        request = self.request_class(environ)
        if not surface_of(request).is_call:
            return super().__call__(environ, start_response)
        close_old_connections()
        response: Any = self.get_response(request)
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return [response.content]
