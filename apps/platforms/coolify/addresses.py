"""The public addresses of applications, services and previews: Coolify has no domains, only lists of URLs."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from apps.orgs.models import Domain
from apps.platforms.coolify.fields import Row, rows_of
from apps.platforms.snapshot import base
from apps.platforms.snapshot.fields import fields_of


@dataclass(frozen=True, slots=True)
class Address:
    """A scheme, host and path. Not a port: the one in Coolify's lists is the container's, and not public."""

    is_https: bool
    host: str
    path: str

    @property
    def url(self) -> str:
        return f"{'https' if self.is_https else 'http'}://{self.host}{self.path}"

    def domain(self, app: str, preview: str | None = None) -> base.Domain:
        """With a key made of what it belongs to and its URL: Coolify has none."""
        digest = hashlib.sha256(f"{preview or app}\n{self.url}".encode()).hexdigest()[:32]
        certificate = Domain.CertificateType.UNKNOWN if self.is_https else Domain.CertificateType.NONE
        return base.Domain(
            key=digest,
            app=app,
            preview=preview,
            host=self.host,
            path=self.path,
            https=self.is_https,
            certificate_type=certificate,
        )


def addresses_of(fqdn: Any) -> tuple[Address, ...]:
    """Of a comma-separated list. What is no address is left out."""
    if not isinstance(fqdn, str):
        return ()
    return _once(_address(part) for part in fqdn.split(","))


def compose_addresses_of(domains: Any) -> tuple[Address, ...] | None:
    """Of `docker_compose_domains`: {service: {"domain": list}}, as a string of JSON. None where it is neither.

    A service `a-b` may be there as `a_b` once more, with the same list.
    """
    if domains is None or domains == "":
        return ()
    services = _decoded(domains) if isinstance(domains, str) else domains
    if services == [] or services is None:
        return ()
    if not isinstance(services, dict):
        return None
    lists = [entry.get("domain") if isinstance(entry, dict) else entry for entry in services.values()]
    return _once(address for one in lists for address in addresses_of(one))


def service_addresses_of(service: Row) -> tuple[Address, ...] | None:
    """Of the applications nested in a service. None where they are not told."""
    parts = rows_of(service["applications"]) if "applications" in service else None
    if parts is None:
        return None
    return _once(address for part in parts if isinstance(part, dict) for address in addresses_of(part.get("fqdn")))


def _once(addresses: Iterable[Address | None]) -> tuple[Address, ...]:
    return tuple(dict.fromkeys(address for address in addresses if address))


def _address(text: str) -> Address | None:
    try:
        parts = urlsplit(text.strip())
        host = (parts.hostname or "").lower()
    except ValueError:
        return None
    path, bounds = parts.path or "/", fields_of(base.Domain)
    if parts.scheme not in ("http", "https"):
        return None
    if bounds["host"].bound.problem(host) or bounds["path"].bound.problem(path):
        return None
    return Address(parts.scheme == "https", host, path)


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return False  # neither an object nor empty
