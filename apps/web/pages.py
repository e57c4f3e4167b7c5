"""What happens around pages only: sessions, CSRF, messages. A call of a tool passes all of it by."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponseBase
from django.utils.module_loading import import_string

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
            self.chain = convert_exception_to_response(middleware)  # type: ignore[assignment]  # it is never async

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return (self.chain if surface_of(request).is_page else self.get_response)(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        hooks = self.view_hooks if surface_of(request).is_page else []
        return next((answer for hook in hooks if (answer := hook(request, view, args, kwargs))), None)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        hooks = self.exception_hooks if surface_of(request).is_page else []
        return next((answer for hook in hooks if (answer := hook(request, exception))), None)
