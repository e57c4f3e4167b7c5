"""The accounts application, and how Django's admin and allauth are fitted in."""

from allauth.account.apps import AccountConfig as AllauthAccountConfig
from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig as DjangoAdminConfig


class AccountsConfig(AppConfig):
    name = "apps.accounts"
    label = "accounts"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        from apps.accounts import sessions
        from apps.jobs import scheduling
        from apps.web import surfaces
        from apps.web.errors import respond_with_page

        account = surfaces.Surface("account", respond_with_page, is_page=True)
        surfaces.add(account, prefixes=("/account/", "/admin/"))
        user_logged_in.connect(sessions.begin, dispatch_uid="apps.accounts.sessions")
        scheduling.every("prune:sessions", "apps.accounts.tasks.prune", scheduling.DAY)


class AdminConfig(DjangoAdminConfig):
    default_site = "apps.accounts.site.OperatorsSite"


class AllauthConfig(AllauthAccountConfig):
    """Does not look for allauth's middleware in MIDDLEWARE: it is in PAGE_MIDDLEWARE."""

    def ready(self) -> None:
        from allauth.account import checks  # noqa: F401  (importing registers them, as allauth does here)
