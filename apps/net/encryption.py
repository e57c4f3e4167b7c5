"""Secrets: what is stored of them instead of themselves, what is derived from SECRET_KEY, and ENCRYPTION_KEYS."""

import base64
import functools
import hashlib
import hmac
from collections.abc import Iterator

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class DecryptionError(ValueError):
    """What was to be decrypted was encrypted with another key, for another purpose, or not at all."""


def hash_of(secret: str) -> str:
    """What is stored of a random token, code or client secret: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def mac(purpose: str, message: str | bytes) -> bytes:
    """HMAC-SHA-256 of the message, with a key from SECRET_KEY that is this purpose's own."""
    return next(macs(purpose, message))


def macs(purpose: str, message: str | bytes) -> Iterator[bytes]:
    """What `mac` returns, and then what it would return with each of SECRET_KEY_FALLBACKS."""
    content = message.encode() if isinstance(message, str) else message
    for secret in secret_keys():
        keyed = _keyed(purpose, secret).copy()
        keyed.update(content)
        yield keyed.digest()


@functools.lru_cache(maxsize=64)
def _keyed(purpose: str, secret: str) -> hmac.HMAC:
    """With a key as Django's salted_hmac has it, which makes it anew for each message."""
    return hmac.new(hashlib.sha256(purpose.encode() + secret.encode()).digest(), digestmod="sha256")


def encrypt(text: str, purpose: str) -> str:
    """With a key from SECRET_KEY that is this purpose's own."""
    return _fernet(settings.SECRET_KEY, purpose).encrypt(text.encode()).decode()


def decrypt(encrypted: str, purpose: str) -> str:
    """Also what one of SECRET_KEY_FALLBACKS encrypted. Raises DecryptionError."""
    return _decrypt(MultiFernet([_fernet(secret, purpose) for secret in secret_keys()]), encrypted)


def encrypt_credential(credential: str) -> str:
    """A credential that Porthole needs itself, such as a platform's key, with the newest of ENCRYPTION_KEYS."""
    return _credential_keys().encrypt(credential.encode()).decode()


def decrypt_credential(encrypted: str) -> str:
    """Raises DecryptionError where none of ENCRYPTION_KEYS fits."""
    return _decrypt(_credential_keys(), encrypted)


def rotate_credential(encrypted: str) -> str:
    """The same credential, encrypted with the newest of ENCRYPTION_KEYS. Raises DecryptionError."""
    return encrypt_credential(decrypt_credential(encrypted))


def _credential_keys() -> MultiFernet:
    """Raises ImproperlyConfigured where there are none. In local those from SECRET_KEY and its fallbacks come last."""
    keys = [Fernet(key) for key in settings.ENCRYPTION_KEYS]
    if settings.IS_LOCAL:
        keys += [_fernet(secret, "credentials") for secret in secret_keys()]
    if not keys:
        raise ImproperlyConfigured("ENCRYPTION_KEYS must be set before a key is stored.")
    return MultiFernet(keys)


def secret_keys() -> list[str]:
    """SECRET_KEY, with which everything new is made, and SECRET_KEY_FALLBACKS, with which it may have been made."""
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _decrypt(key: Fernet | MultiFernet, encrypted: str) -> str:
    try:
        return key.decrypt(encrypted.encode()).decode()
    except InvalidToken:
        raise DecryptionError from None


@functools.lru_cache(maxsize=32)
def _fernet(secret: str, purpose: str) -> Fernet:
    key = HKDF(SHA256(), length=32, salt=None, info=f"porthole {purpose}".encode()).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(key))
