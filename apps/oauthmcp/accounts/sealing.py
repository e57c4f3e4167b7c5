"""Keeps the secrets of second factors encrypted in the database, with a key that follows from SECRET_KEY."""

import base64
import functools

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


def seal(text: str) -> str:
    return _fernet(settings.SECRET_KEY).encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Raises cryptography.fernet.InvalidToken where another SECRET_KEY sealed it."""
    return _fernet(settings.SECRET_KEY).decrypt(sealed.encode()).decode()


@functools.lru_cache(maxsize=2)
def _fernet(secret: str) -> Fernet:
    key = HKDF(SHA256(), length=32, salt=None, info=b"porthole second factor").derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(key))
