"""The forms of the sign-in pages: allauth's, with our words, and the one of invitations."""

from collections.abc import Container
from typing import Any

from allauth.account import forms as account
from allauth.core import context
from allauth.mfa.base import forms as mfa
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from apps.accounts.attempts import Attempt
from apps.accounts.second_factors import UnreadableSecondFactor, log_unreadable
from apps.orgs.models import User
from apps.orgs.models.people import fold_email

RULES = "At least 8 characters, not a common password, and unlike your name and address."


class LabelledFormMixin(forms.Form):
    """Mixed into a form: its labels stand above the fields, nothing is repeated inside them."""

    labels: dict[str, str] = {}
    autocomplete: dict[str, str] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        for name, field in self.fields.items():
            field.widget.attrs.pop("placeholder", None)
            field.help_text = RULES if name == "password1" else ""
            if name in self.labels:
                field.label = self.labels[name]
            if name in self.autocomplete:
                field.widget.attrs["autocomplete"] = self.autocomplete[name]
            if name == "code":
                field.widget.attrs |= {"inputmode": "numeric", "autocapitalize": "none", "spellcheck": "false"}
        self._focus(())

    def full_clean(self) -> None:
        super().full_clean()
        self._focus(self.errors)

    def _focus(self, errors: Container[str]) -> None:
        """On the first field that is wrong, else on the first: a page with a form is there to be filled in."""
        visible = [name for name, field in self.fields.items() if not field.widget.is_hidden]
        wrong = [name for name in visible if name in errors]
        for name in visible:
            self.fields[name].widget.attrs.pop("autofocus", None)
        for name in (wrong or visible)[:1]:
            self.fields[name].widget.attrs["autofocus"] = True


class LoginForm(LabelledFormMixin, account.LoginForm):
    labels = {"login": "E-mail address", "remember": "Stay signed in on this device"}
    autocomplete = {"login": "username"}  # with the password: how browsers know what belongs together

    def clean_login(self) -> str:
        return fold_email(super().clean_login())


class ReauthenticateForm(LabelledFormMixin, account.ReauthenticateForm):
    pass


class ChangePasswordForm(LabelledFormMixin, account.ChangePasswordForm):
    labels = {"oldpassword": "Current password", "password1": "New password", "password2": "New password, once more"}


class ResetPasswordForm(LabelledFormMixin, account.ResetPasswordForm):
    labels = {"email": "E-mail address"}

    def clean_email(self) -> str:
        self.cleaned_data["email"] = fold_email(self.cleaned_data["email"])
        return str(super().clean_email())


class ResetPasswordKeyForm(LabelledFormMixin, account.ResetPasswordKeyForm):
    labels = {"password1": "New password", "password2": "New password, once more"}


class LimitedCodeMixin:
    """Mixed into a form that checks a code. allauth's own limit is by account: anybody could use it up."""

    user: User
    cleaned_data: dict[str, Any]

    def clean_code(self) -> str:
        attempt = Attempt(context.request, "code", self.user.email)
        try:
            code: str = super().clean_code()  # type: ignore[misc]
        except UnreadableSecondFactor:
            code = self._recovery_code(attempt)
        except ValidationError:
            attempt.failed()
            raise
        attempt.succeeded()
        return code

    def _recovery_code(self, attempt: Attempt) -> str:
        """The app's secret cannot be read; the recovery codes' may be a newer one. Raises UnreadableSecondFactor."""
        code: str = self.cleaned_data["code"]
        try:
            for authenticator in Authenticator.objects.filter(user=self.user, type=Authenticator.Type.RECOVERY_CODES):
                if authenticator.wrap().validate_code(code):
                    self.authenticator = authenticator
                    return code
            raise UnreadableSecondFactor
        except UnreadableSecondFactor:
            log_unreadable(self.user)
            attempt.failed()
            raise


class CodeForm(LimitedCodeMixin, LabelledFormMixin, mfa.AuthenticateForm):
    labels = {"code": "Code"}


class CodeAgainForm(LimitedCodeMixin, LabelledFormMixin, mfa.ReauthenticateForm):
    labels = {"code": "Code"}


class ActivateTOTPForm(LabelledFormMixin, totp.ActivateTOTPForm):
    labels = {"code": "Code from the app"}


class AcceptInvitationForm(LabelledFormMixin):
    """What somebody new chooses. The address is the invitation's: it cannot be chosen."""

    name = forms.CharField(label="Your name", max_length=100, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    password1 = forms.CharField(
        label="Password", strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )
    password2 = forms.CharField(
        label="Password, once more", strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        first, second = values.get("password1"), values.get("password2")
        if first and second and first != second:
            self.add_error("password2", "The two passwords differ.")
        elif first:
            self._validate_password(first, values.get("name", ""))
        return values

    def _validate_password(self, password: str, name: str) -> None:
        try:
            validate_password(password, User(email=self.email, name=name))
        except ValidationError as error:
            self.add_error("password1", error)
