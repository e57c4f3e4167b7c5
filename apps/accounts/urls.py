"""Every address under /account/, but for /account/clients/, which is apps.oauthmcp's.

Written out, so that no page of allauth is reachable that we did not choose.
"""

from collections.abc import Callable

from allauth.account import views as accounts
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from django.http import HttpResponseBase
from django.urls import URLPattern, path, re_path
from django.views.decorators.cache import never_cache

from apps.accounts import views


def page(address: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    # no-store: what is on these pages must not stay in a shared browser.
    return path(address, never_cache(views.tell_to_wait(view)), name=name)


def codes_page(address: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    return page(address, views.tell_unreadable(view), name)


urlpatterns = [
    page("", views.account, "account"),
    page("invitations/<str:token>/", views.invitation, "invitation"),
    page("login/", accounts.login, "account_login"),
    page("logout/", accounts.logout, "account_logout"),
    page("inactive/", accounts.account_inactive, "account_inactive"),
    page("reauthenticate/", accounts.reauthenticate, "account_reauthenticate"),
    page("password/change/", accounts.password_change, "account_change_password"),
    page("password/reset/", accounts.password_reset, "account_reset_password"),
    page("password/reset/sent/", accounts.password_reset_done, "account_reset_password_done"),
    page("password/reset/done/", accounts.password_reset_from_key_done, "account_reset_password_from_key_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]{1,13})-(?P<key>[0-9A-Za-z-]{1,100})/\Z",
        never_cache(accounts.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    codes_page("second-factor/", mfa.index, "mfa_index"),
    page("second-factor/sign-in/", mfa.authenticate, "mfa_authenticate"),
    page("second-factor/confirm/", mfa.reauthenticate, "mfa_reauthenticate"),
    page("second-factor/app/", totp.activate_totp, "mfa_activate_totp"),
    page("second-factor/app/remove/", totp.deactivate_totp, "mfa_deactivate_totp"),
    codes_page("second-factor/codes/", codes.view_recovery_codes, "mfa_view_recovery_codes"),
    codes_page("second-factor/codes/new/", codes.generate_recovery_codes, "mfa_generate_recovery_codes"),
    codes_page("second-factor/codes/download/", codes.download_recovery_codes, "mfa_download_recovery_codes"),
]
