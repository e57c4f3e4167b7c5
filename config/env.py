"""Reads settings from the environment: each `NAME`, or the file that `NAME_FILE` names; keys also from KEYS_DIR.

A missing or malformed value raises ImproperlyConfigured with one sentence that names the variable and never shows
its value, which may be a secret.
"""

import os
import re
import stat
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from cryptography import x509
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

from apps.net.addresses import is_origin
from apps.net.connect_to import ConnectTo, connect_to
from apps.sources.docs.synonyms import Groups, groups_in

Network = IPv4Network | IPv6Network
BASE_DIR = Path(__file__).resolve().parent.parent
KEYS = ("SECRET_KEY", "SECRET_KEY_FALLBACKS", "ENCRYPTION_KEYS")  # each may be a file of KEYS_DIR
SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,31}")
UNSAFE_SCHEMES = (
    "http", "https", "javascript", "data", "file", "blob", "about", "filesystem", "view-source", "intent", "mailto",
    "smb", "ftp", "ftps", "ws", "wss", "tel", "sms", "vbscript", "livescript", "jar", "chrome", "resource", "shell",
    "res", "ldap", "ldaps", "ssh", "telnet", "content", "android-app", "search", "search-ms",
)  # fmt: skip
UNSAFE_PREFIXES = ("ms-", "x-apple", "itms")  # what Windows and Apple's systems act on


class Env:
    def __init__(self, values: Mapping[str, str] = os.environ) -> None:
        self.values = values

    def text(self, name: str, default: str = "") -> str:
        """The value of NAME, or the content of the file NAME_FILE without the line end. Empty counts as unset.

        A key that is in neither is looked for in KEYS_DIR (config/keys.py), in a file of its name.
        """
        value, file = self.values.get(name, ""), self.values.get(f"{name}_FILE", "")
        if value and file:
            raise ImproperlyConfigured(f"{name} and {name}_FILE are both set: set one of them.")
        if file:
            value = self._read(f"{name}_FILE names a file", file)
        elif not value and name in KEYS:
            value = self._kept(self.keys_dir() / name)
        return value or default

    def is_set(self, name: str) -> bool:
        """Whether the environment has it, in whatever way."""
        return bool(self.values.get(name) or self.values.get(f"{name}_FILE"))

    def keys_dir(self) -> Path:
        """Where keys are that were made here."""
        if self.is_set("KEYS_DIR"):
            return self.path("KEYS_DIR", BASE_DIR / "keys")
        return self.path("DATA_DIR", BASE_DIR / "var") / "keys"

    def choice(self, name: str, choices: tuple[str, ...], default: str) -> str:
        value = self.text(name, default)
        if value not in choices:
            raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}.")
        return value

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        value = self.text(name, str(default))
        if not (re.fullmatch(r"[0-9]{1,12}", value) and low <= int(value) <= high):
            raise ImproperlyConfigured(f"{name} must be a whole number from {low} to {high}.")
        return int(value)

    def origin(self, name: str, default: str = "") -> str:
        """`https://host[:port]`: no path, no trailing slash, no user name."""
        value = self.text(name, default)
        if value and not is_origin(value):
            raise ImproperlyConfigured(f"{name} must look like https://porthole.example.com, without a trailing slash.")
        return value

    def origins(self, name: str) -> list[str]:
        values = self.words(name)
        if not all(map(is_origin, values)):
            raise ImproperlyConfigured(f"{name} must be origins such as https://app.example.com, between commas.")
        return values

    def schemes(self, name: str) -> list[str]:
        """Schemes of URIs (RFC 3986 §3.1); none that browsers or systems act on by themselves."""
        values = [word.lower().removesuffix("://") for word in self.words(name)]
        if not all(SCHEME.fullmatch(value) and not is_unsafe_scheme(value) for value in values):
            raise ImproperlyConfigured(f"{name} must be schemes of your users' apps, such as zed, between commas.")
        return values

    def networks(self, name: str) -> list[Network]:
        try:
            return [ip_network(word) for word in self.words(name)]
        except ValueError:
            raise ImproperlyConfigured(f"{name} must be networks such as 10.0.0.0/8, between commas.") from None

    def connect_to(self, name: str) -> list[ConnectTo]:
        try:
            return [connect_to(word) for word in self.words(name)]
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} must be like shop.example.com=10.0.0.5 or *.example.com:443=[fd00::5]:8443, between commas: "
                "a host, perhaps a port, and the address to connect to instead, perhaps with another port."
            ) from None

    def authorities(self, name: str) -> str:
        """Certificates in PEM, one after the other."""
        value = self.text(name)
        try:
            if value:
                x509.load_pem_x509_certificates(value.encode())
        except ValueError:
            raise ImproperlyConfigured(f"{name} must be certificates in PEM, one after the other.") from None
        return value

    def url(self, name: str) -> str | None:
        value = self.text(name)
        if value and not is_address(value):
            raise ImproperlyConfigured(f"{name} must be an http:// or https:// address without a user name.")
        return value or None

    def proxy(self, name: str) -> str | None:
        """`http://[user:password@]host:port`."""
        value = self.text(name)
        if value and not is_proxy(value):
            raise ImproperlyConfigured(f"{name} must look like http://proxy.example.com:3128.")
        return value or None

    def keys(self, name: str) -> list[str]:
        """Secrets, between commas or white space."""
        return [word for word in re.split(r"[\s,]+", self.text(name)) if word]

    def fernet_keys(self, name: str) -> list[str]:
        """Keys as Fernet.generate_key makes them, between commas or white space."""
        keys = self.keys(name)
        if not all(map(is_fernet_key, keys)):
            raise ImproperlyConfigured(f"{name} must be Fernet keys (32 bytes in URL-safe base64), between commas.")
        return keys

    def mail(self, name: str, default: str) -> dict[str, Any]:
        """How mail is sent: `smtp://user:password@host:587?tls=1`, `smtps://…` or `console:`, as Django's EMAIL_*."""
        value = self.text(name, default)
        try:
            return mail_settings(value) if value else {}
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} must be like smtp://user:password@host:587?tls=1 or smtps://user:password@host, or console:."
            ) from None

    def email(self, name: str, default: str) -> str:
        """An e-mail address, nothing around it."""
        value = self.text(name)
        try:
            validate_email(value or "porthole@example.com")
        except ValidationError:
            raise ImproperlyConfigured(f"{name} must be an e-mail address such as porthole@example.com.") from None
        return value or default

    def path(self, name: str, default: Path) -> Path:
        return (default.parent / self.text(name, default.name)).resolve()

    def paths(self, name: str, default: Path) -> list[Path]:
        return [(default.parent / word).resolve() for word in self.words(name)] or [default]

    def synonyms(self, name: str) -> Groups:
        value = self.text(name)
        try:
            return groups_in(value)
        except ValueError as error:
            raise ImproperlyConfigured(f"{name}: {error}.") from None

    def words(self, name: str) -> list[str]:
        return [word.strip() for word in self.text(name).split(",") if word.strip()]

    def _kept(self, file: Path) -> str:
        try:
            mode = file.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError:
            mode = 0  # what cannot be looked at cannot be read either
        if mode & stat.S_IRWXO:
            raise ImproperlyConfigured(f"Every user of this machine may use {file}: chmod 600 it, or make a new key.")
        return self._read(f"KEYS_DIR has a file {file.name}", str(file))

    @staticmethod
    def _read(subject: str, file: str) -> str:
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError):
            raise ImproperlyConfigured(f"{subject} that cannot be read as text.") from None


def is_proxy(value: str) -> bool:
    try:
        parts = urlsplit(value)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and bool(parts.port)
    except ValueError:
        return False
    return is_whole and value.isascii() and not re.search(r"[\s?#\\]", value) and parts.path in ("", "/")


def is_fernet_key(value: str) -> bool:
    try:
        return bool(Fernet(value))
    except ValueError:
        return False


def is_unsafe_scheme(value: str) -> bool:
    return value in UNSAFE_SCHEMES or value.startswith(UNSAFE_PREFIXES)


def is_address(value: str) -> bool:
    """An http:// or https:// URL with a host, a possible port, no user name and no space."""
    try:
        parts = urlsplit(value)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    is_plain = "@" not in parts.netloc and not re.search(r"\s", value)
    return bool(host) and parts.scheme in ("http", "https") and is_plain


def mail_settings(url: str) -> dict[str, Any]:
    """Raises ValueError."""
    if url == "console:":
        return {"EMAIL_BACKEND": "apps.accounts.printed_mail.EmailBackend"}
    parts = urlsplit(url)
    options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    has_tls = {(): False, (("tls", "0"),): False, (("tls", "1"),): True}.get(tuple(options))
    is_plain = parts.path in ("", "/") and not parts.fragment and not re.search(r"\s", url)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or not is_plain or has_tls is None:
        raise ValueError
    if (parts.username is None) != (parts.password is None) or (parts.scheme == "smtps" and has_tls):
        raise ValueError
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or _usual_port(parts, has_tls),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": has_tls,
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": 10,
    }


def _usual_port(parts: SplitResult, has_tls: bool) -> int:
    return 465 if parts.scheme == "smtps" else 587 if has_tls else 25
