"""Every address under /account/tokens/."""

from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.cache import never_cache

from apps.oauthmcp.script_tokens import organizations, views


def page(address: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    # no-store: neither a browser nor anything between keeps a token that was shown.
    return path(address, never_cache(view), name=name)


urlpatterns = [
    page("", views.tokens, "script_tokens"),
    page("new/", views.new, "new_script_token"),
    page("<uuid:id>/end/", views.end, "end_script_token"),
    page("organizations/<str:organization_id>/", organizations.tokens, "organization_script_tokens"),
    page("organizations/<str:organization_id>/allow/", organizations.allow, "allow_script_tokens"),
    page("organizations/<str:organization_id>/<uuid:id>/end/", organizations.end, "end_organization_script_token"),
]
