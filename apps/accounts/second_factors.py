"""Secrets of second factors: how they are stored, and what is said where no key of this installation reads them."""

import logging
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.db import transaction

from apps.net.encryption import DecryptionError, decrypt, encrypt
from apps.orgs.models import User

log = logging.getLogger("porthole.accounts")
PURPOSE = "second factor"
SECRETS = ("secret", "seed")  # of an authenticator app, and of recovery codes


class UnreadableSecondFactor(ValidationError):
    """Whoever sees it has proved the password already."""

    def __init__(self) -> None:
        super().__init__(
            "Your second factor can no longer be read here, because the key that protects it was changed. Ask an "
            "operator to remove it: then your password alone signs you in, and you can set it up again.",
            code="unreadable",
        )


def encrypt_secret(text: str) -> str:
    return encrypt(text, PURPOSE)


def decrypt_secret(encrypted: str) -> str:
    """Raises UnreadableSecondFactor."""
    try:
        return decrypt(encrypted, PURPOSE)
    except DecryptionError:
        raise UnreadableSecondFactor from None


def log_unreadable(user: User) -> None:
    log.error(
        "the second factor of user %s cannot be read: neither SECRET_KEY nor one of SECRET_KEY_FALLBACKS fits", user.pk
    )


def unreadable() -> list[Authenticator]:
    """Those that no key reads, by their users."""
    found = Authenticator.objects.select_related("user").order_by("user_id", "pk")
    return [authenticator for authenticator in found if not _is_readable(authenticator)]


def rotate() -> int:
    """Encrypts those that can be read with SECRET_KEY, and returns how many: afterwards they need no fallback."""
    rotated = 0
    for key in Authenticator.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():  # one at a time: whoever signs in meanwhile waits for no other
            authenticator = Authenticator.objects.select_for_update().filter(pk=key).first()
            if authenticator is not None and _is_readable(authenticator):
                authenticator.data |= {name: encrypt_secret(secret) for name, secret in _secrets(authenticator)}
                authenticator.save(update_fields=["data"])
                rotated += 1
    return rotated


def _is_readable(authenticator: Authenticator) -> bool:
    try:
        _secrets(authenticator)
    except UnreadableSecondFactor:
        return False
    return True


def _secrets(authenticator: Authenticator) -> list[tuple[str, str]]:
    """Raises UnreadableSecondFactor."""
    data: dict[str, Any] = authenticator.data
    return [(name, decrypt_secret(data[name])) for name in SECRETS if name in data]
