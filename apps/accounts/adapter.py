"""allauth's adapters: the client's address, links, mail, and encryption of secrets."""

from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context as allauth_context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from apps.accounts import browsers
from apps.accounts.attempts import Attempt, client_of
from apps.accounts.mail import send_in_background
from apps.accounts.second_factors import decrypt_secret, encrypt_secret
from apps.orgs.models import User
from apps.orgs.models.people import fold_email


class AccountAdapter(DefaultAccountAdapter):
    error_messages = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": "The e-mail address or the password is not right.",
        "too_many_login_attempts": "Too many attempts. Wait five minutes, then try again.",
        "rate_limited": "Too many attempts. Wait five minutes, then try again.",
        "enter_current_password": "This is not your current password.",
        "incorrect_password": "This is not your password.",
        "incorrect_code": "This code is not right. Codes change every 30 seconds and work once.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False  # operators invite; nobody signs up

    def is_ajax(self, request: HttpRequest) -> bool:
        return False  # these are pages: nobody is answered with JSON

    def is_safe_url(self, url: str | None) -> bool:
        try:
            return bool(super().is_safe_url(url))
        except ValueError:  # such as //[, which it cannot take apart
            return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_of(request)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        # Instead of allauth's limit by account, with which anybody locks anybody out.
        self.attempt = Attempt(request, "password", fold_email(credentials.get("email", "")))

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        if user is not None:
            self.attempt.succeeded()
        return user

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        self.attempt.failed()

    def post_login(self, request: HttpRequest, user: AbstractBaseUser, **more: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **more)
        browsers.remember(request, response, user.email)  # type: ignore[attr-defined]
        return response

    def get_reset_password_from_key_url(self, key: str) -> str:
        # The address of the installation, not of the request: its port comes from whoever asked for the mail.
        return settings.PUBLIC_URL + urlsplit(super().get_reset_password_from_key_url(key)).path

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """In the background: a mail's delay or failure would reveal that there is an account."""
        request = allauth_context.request
        values = {"request": request, "email": email, "address": settings.PUBLIC_URL} | context
        send_in_background(self.render_mail(template_prefix, email, values))

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        address = {"ip": self.request.client_address}  # get_client_ip tells what limits count
        super().send_notification_mail(template_prefix, user, address | (context or {}), email)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")


class SecondFactorAdapter(DefaultMFAAdapter):
    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": AccountAdapter.error_messages["incorrect_code"],
        "cannot_generate_recovery_codes": "Set up an authenticator app first.",
    }

    def encrypt(self, text: str) -> str:
        return encrypt_secret(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt_secret(encrypted_text)


def has_second_factor(user: User) -> bool:
    return Authenticator.objects.filter(user_id=user.pk, type=Authenticator.Type.TOTP).exists()
