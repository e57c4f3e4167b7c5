"""The oauthmcp application."""

from django.apps import AppConfig


class OAuthMcpConfig(AppConfig):
    name = "apps.oauthmcp"
    label = "oauthmcp"
    verbose_name = "Access"
