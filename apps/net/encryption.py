"""Secrets: what is stored of them instead of themselves, and everything that is derived from SECRET_KEY."""

import base64
import functools
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.crypto import salted_hmac


class DecryptionError(ValueError):
    """What was to be decrypted was encrypted with another key, for another purpose, or not at all."""


def hash_of(secret: str) -> str:
    """What is stored of a random token, code or client secret: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def mac(purpose: str, message: str | bytes) -> bytes:
    """HMAC-SHA-256 of the message, with a key from SECRET_KEY that is this purpose's own."""
    return salted_hmac(purpose, message, algorithm="sha256").digest()


def encrypt(text: str, purpose: str) -> str:
    """With a key from SECRET_KEY that is this purpose's own."""
    return _fernet(settings.SECRET_KEY, purpose).encrypt(text.encode()).decode()


def decrypt(encrypted: str, purpose: str) -> str:
    """Raises DecryptionError."""
    try:
        return _fernet(settings.SECRET_KEY, purpose).decrypt(encrypted.encode()).decode()
    except InvalidToken:
        raise DecryptionError from None


@functools.lru_cache(maxsize=8)
def _fernet(secret: str, purpose: str) -> Fernet:
    key = HKDF(SHA256(), length=32, salt=None, info=f"porthole {purpose}".encode()).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(key))
