"""Registers the rules about settings, and fits the admin and allauth into the project."""

from allauth.account.apps import AccountConfig
from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig


class PortholeConfig(AppConfig):
    name = "config"
    verbose_name = "Porthole"

    def ready(self) -> None:
        from config import checks  # noqa: F401  (importing registers them; models are loaded only now)


class AdminConfig(DjangoAdminConfig):
    default_site = "config.operators.OperatorsSite"


class AccountsConfig(AccountConfig):
    """Does not insist on allauth's own middleware: `config.middleware.PageAccounts` is it, for pages only."""

    def ready(self) -> None:
        from allauth.account import checks  # noqa: F401  (importing registers them, as allauth does here)
