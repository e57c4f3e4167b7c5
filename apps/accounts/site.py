"""The admin site: operators sign in where everybody does, and outside local with a second factor."""

from typing import Any, cast

from allauth.account.decorators import secure_admin_login
from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from apps.accounts.adapter import has_second_factor
from apps.orgs.models import Organization


class Autocomplete(AutocompleteJsonView):
    def serialize_result(self, obj: Any, to_field_name: str) -> dict[str, str]:
        """Organizations with their slugs: two may have one name."""
        result: dict[str, str] = super().serialize_result(obj, to_field_name)
        return result | {"text": f"{obj.name} ({obj.slug})"} if isinstance(obj, Organization) else result


class OperatorsSite(AdminSite):
    site_header = "Porthole operators"
    site_title = "Porthole operators"
    index_title = "Overview"
    empty_value_display = "–"

    def has_permission(self, request: HttpRequest) -> bool:
        """Every page of the admin asks this first; where it is not so, `login` says what is missing."""
        return super().has_permission(request) and not _lacks_second_factor(request)

    @method_decorator(never_cache)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.user.is_authenticated and not request.user.is_staff:
            return render(request, "account/not_an_operator.html", status=403)
        response: HttpResponse = secure_admin_login(self._enter)(request)
        return response

    def _enter(self, request: HttpRequest) -> HttpResponse:
        """An operator is signed in."""
        if _lacks_second_factor(request):
            return redirect("mfa_activate_totp")
        return redirect("admin:index")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        from apps.orgs.admin.trouble import concerns_of  # its package registers with this site, once there is one

        context = {"concerns": concerns_of(self, request)}
        return super().index(request, context | (extra_context or {}))

    def get_urls(self) -> list[Any]:
        # Nothing here has a page on the site, and of a client Django would look for one that there is not.
        return [url for url in super().get_urls() if getattr(url, "name", None) != "view_on_site"]

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        return cast("HttpResponse", Autocomplete.as_view(admin_site=self)(request))

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("account_change_password")

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        super().logout(request, extra_context)
        return redirect(settings.LOGOUT_REDIRECT_URL)


def _lacks_second_factor(request: HttpRequest) -> bool:
    return settings.OPERATORS_NEED_SECOND_FACTOR and not has_second_factor(request.user)  # type: ignore[arg-type]
