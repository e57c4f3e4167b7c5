"""Certificates for fakes and tests: an authority made anew by each process, and what it or nobody issued."""

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = datetime.now(UTC).replace(microsecond=0)


def _name(common: str, organization: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common)])


@cache
def _key(of: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


AUTHORITY = _name("R1", "Demo Authority")


def _build(
    subject: x509.Name, key: str, issuer: x509.Name, signer: str, days: float, extensions: list[x509.ExtensionType]
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(_key(key).public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=400))
        .not_valid_after(NOW + timedelta(days=days))
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
    return builder.sign(_key(signer), hashes.SHA256())


def authority() -> bytes:
    """The authority's certificate, in PEM, for those who trust it."""
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    extensions = [
        x509.BasicConstraints(ca=True, path_length=None), usage,
        x509.SubjectKeyIdentifier.from_public_key(_key("authority").public_key()),
    ]  # fmt: skip
    made = _build(AUTHORITY, "authority", AUTHORITY, "authority", 3650, extensions)
    return made.public_bytes(serialization.Encoding.PEM)


def write_authority(folder: Path) -> str:
    file = folder / "authority.pem"
    file.write_bytes(authority())
    return str(file)


def site(host: str, days: float = 90, *, is_self_signed: bool = False) -> bytes:
    """Key and certificate of `host`, valid for `days` from now, in PEM."""
    try:
        alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        alternative = x509.DNSName(host)
    issuer, signer = (_name(host), "site") if is_self_signed else (AUTHORITY, "authority")
    extensions = [x509.BasicConstraints(ca=False, path_length=None), x509.SubjectAlternativeName([alternative])]
    made = _build(_name(host), "site", issuer, signer, days, extensions)
    key = _key("site").private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return key + made.public_bytes(serialization.Encoding.PEM)


def context(host: str, days: float = 90, *, is_self_signed: bool = False) -> ssl.SSLContext:
    """What a server of `host` needs. Python takes it from a file only: one of our own, gone before anybody connects."""
    result = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with NamedTemporaryFile() as file:  # 0600
        file.write(site(host, days, is_self_signed=is_self_signed))
        file.flush()
        result.load_cert_chain(file.name)
    return result
