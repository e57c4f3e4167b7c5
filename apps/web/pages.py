"""What happens around pages only: sessions, CSRF, messages. A call of a tool passes all of it by."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.handlers.exception import convert_exception_to_response
from django.db import Error
from django.http import HttpRequest, HttpResponseBase
from django.utils.module_loading import import_string

from apps.web.errors import database_error
from apps.web.middleware import GetResponse
from apps.web.surfaces import surface_of


class PageMiddleware:
    """Runs PAGE_MIDDLEWARE, hooks included, for pages; every other request goes straight on."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = self.chain = get_response
        self.view_hooks: list[Callable[..., HttpResponseBase | None]] = []
        self.exception_hooks: list[Callable[..., HttpResponseBase | None]] = []
        for path in reversed(settings.PAGE_MIDDLEWARE):
            middleware = import_string(path)(self.chain)
            if hook := getattr(middleware, "process_view", None):
                self.view_hooks.insert(0, hook)
            if hook := getattr(middleware, "process_exception", None):
                self.exception_hooks.append(hook)
            chain = _without_database(middleware)
            self.chain = convert_exception_to_response(chain)  # type: ignore[assignment]  # it is never async

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return (self.chain if surface_of(request).is_page else self.get_response)(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        hooks = self.view_hooks if surface_of(request).is_page else []
        return next((answer for hook in hooks if (answer := hook(request, view, args, kwargs))), None)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        if unavailable := database_error(request, exception):
            return unavailable
        hooks = self.exception_hooks if surface_of(request).is_page else []
        return next((answer for hook in hooks if (answer := hook(request, exception))), None)


def _without_database(middleware: GetResponse) -> GetResponse:
    """A session that cannot be saved is 503. It was changed, so the page that comes next needs what was to be saved."""

    @wraps(middleware)
    def answer(request: HttpRequest) -> HttpResponseBase:
        try:
            return middleware(request)
        except SessionInterrupted as error:  # says that somebody signed out meanwhile, whatever the database said
            if response := _of_context(request, error):
                return response
            raise
        except Error as error:
            if response := database_error(request, error):
                return response
            raise

    return answer


def _of_context(request: HttpRequest, error: BaseException) -> HttpResponseBase | None:
    """The answer for the first error that led to this one."""
    while error.__context__ and not isinstance(error, Error):
        error = error.__context__
    return database_error(request, error)
