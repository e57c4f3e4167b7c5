"""What a certificate says, and why it is refused."""

from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from cryptography.x509.oid import NameOID

from apps.web.characters import prose

MAX_ISSUER = 200
# By OpenSSL's X509_V_ERR_*, as curl passes them on. Names curl compares itself, and has not asked OpenSSL by then: the
# first one says only that nothing was passed on.
WHY_REFUSED = {
    1: "Its certificate is for another name.",
    9: "Its certificate is not valid yet.",
    10: "Its certificate has expired.",
    18: "Its certificate is self-signed.",
    19: "Its certificate is from an authority that browsers do not know.",
    20: "Its certificate is from an authority that browsers do not know.",
    21: "Its certificate is from an authority that browsers do not know.",
}
REFUSED = "Its certificate cannot be verified."


@dataclass(frozen=True, slots=True)
class Certificate:
    """Who issued it, as people call them, and until when it is valid."""

    issuer: str
    not_after: datetime


def read_certificate(pem: str) -> Certificate | None:
    """None where it cannot be read: whoever made it may have written anything."""
    try:
        certificate = x509.load_pem_x509_certificate(pem.encode())
        return Certificate(_name(certificate.issuer), certificate.not_valid_after_utc)
    except (ValueError, OverflowError):
        return None


def _name(issuer: x509.Name) -> str:
    """Its organization and common name, the organization once: Let's Encrypt R11, DigiCert TLS RSA SHA256 2020 CA1."""
    organization, common = _part(issuer, NameOID.ORGANIZATION_NAME), _part(issuer, NameOID.COMMON_NAME)
    if organization and common and organization.split()[0].casefold() not in common.casefold():
        common = f"{organization} {common}"
    name = common or organization or issuer.rfc4514_string()
    return prose(name)[:MAX_ISSUER]


def _part(issuer: x509.Name, oid: x509.ObjectIdentifier) -> str:
    found = issuer.get_attributes_for_oid(oid)
    return str(found[0].value).strip() if found else ""
