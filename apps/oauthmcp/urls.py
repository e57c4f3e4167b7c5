"""Every address under /api/auth/mcp/, by django-oauth-toolkit's names."""

from django.urls import path

from apps.oauthmcp import authorize, registration, revocation, token

app_name = "oauth2_provider"
urlpatterns = [
    path("authorize", authorize.authorize, name="authorize"),
    path("register", registration.register, name="register"),
    path("token", token.token, name="token"),
    path("revoke", revocation.revoke, name="revoke-token"),
]
