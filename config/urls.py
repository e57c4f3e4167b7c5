"""Every path."""

from django.contrib import admin
from django.urls import include, path, re_path

from apps.accounts import home
from apps.oauthmcp import metadata
from apps.tools import docs_pages, views
from apps.tools.http import ToolViewSet
from apps.tools.mcp.door import McpView
from apps.web import errors
from apps.web.probes import healthz, readyz
from config.openapi import openapi

urlpatterns = [
    # What is asked most comes first: each path is looked for in this order.
    re_path(r"^api/v1/tools/(?P<name>(?s:.*))\Z", ToolViewSet.as_view({"post": "call"}), name="tool"),
    re_path(r"^mcp/?\Z", McpView.as_view(), name="mcp"),
    path("", home.home, name="home"),
    re_path(r"^docs/?\Z", docs_pages.contents, name="docs-contents"),
    re_path(r"^docs/(?P<address>(?s:.+))\Z", docs_pages.page, name="docs-page"),
    path("llms.txt", docs_pages.llms, name="llms"),
    path("api/v1/openapi.json", openapi, name="openapi"),
    path("api/v1/docs", views.docs, name="docs"),
    path("api/v1/docs/signed-in", views.signed_in, name="docs-signed-in"),
    re_path(r"^\.well-known/oauth-protected-resource(?P<door>|/mcp|/api/v1)\Z", metadata.protected_resource),
    path("api/auth/.well-known/oauth-protected-resource", metadata.protected_resource, {"door": ""}),
    path(".well-known/oauth-authorization-server", metadata.authorization_server),
    path("api/auth/.well-known/oauth-authorization-server", metadata.authorization_server),
    path(".well-known/openid-configuration", metadata.openid_configuration),
    path(".well-known/jwks.json", metadata.jwks),
    path("api/auth/mcp/", include("apps.oauthmcp.urls")),
    path("account/clients/", include("apps.oauthmcp.account_urls")),
    path("account/tokens/", include("apps.oauthmcp.script_tokens.urls")),
    path("account/", include("apps.accounts.urls")),
    path("admin/", admin.site.urls),
    path("healthz", healthz),
    path("readyz", readyz),
]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.not_found
handler429 = errors.too_many_requests  # allauth looks for it here
handler500 = errors.server_error
