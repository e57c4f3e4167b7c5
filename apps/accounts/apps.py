"""The accounts application, and how Django's admin and allauth are fitted in."""

from allauth.account.apps import AccountConfig as AllauthAccountConfig
from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig


class AccountsConfig(AppConfig):
    name = "apps.accounts"
    label = "accounts"


class AdminConfig(DjangoAdminConfig):
    default_site = "apps.accounts.site.OperatorsSite"


class AllauthConfig(AllauthAccountConfig):
    """Does not look for allauth's middleware in MIDDLEWARE: it is in PAGE_MIDDLEWARE."""

    def ready(self) -> None:
        from allauth.account import checks  # noqa: F401  (importing registers them, as allauth does here)
