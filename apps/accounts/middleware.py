"""allauth's middleware, for pages only."""

from allauth.account.middleware import AccountMiddleware
from django.http import HttpRequest, HttpResponseBase

from apps.web.middleware import GetResponse
from apps.web.surfaces import surface_of


class PageAccounts:
    """allauth's middleware is a function, so this wraps it instead of inheriting."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.accounts = AccountMiddleware(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        answer = self.accounts if surface_of(request).is_page else self.get_response
        response: HttpResponseBase = answer(request)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        response: HttpResponseBase | None = self.accounts.process_exception(request, exception)
        return response
