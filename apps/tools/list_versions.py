"""The versions of lists: what a list answers as `version`, takes as `ifVersion`, and counts as unchanged.

A version says of which versions of the organization's rows an answer is, until when the clock alone leaves it as it is,
and what it said. So most of the time nobody has to look at a row to find that it is still right; and where something
else in the organization has changed, or time has passed, the list is read and found to be the same.
"""

import base64
import binascii
import hashlib
import hmac
from datetime import UTC, datetime, timedelta

from apps.net.encryption import mac

VERSION_LENGTH = 99  # characters; those that are made have 48, and a few more where something stands beside the rows
SIGNATURE_BYTES, DIGEST_BYTES, TIME_BYTES = 16, 12, 8
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER_AGAIN, FOREVER = 0, 2**63 - 1  # as the time until which it is right: not even now, always


def version_of(
    question: str, versions: tuple[int, ...] | None, until: datetime | None, digest: bytes, extra: bytes
) -> str:
    """`question` is all that was asked, `versions` what it was answered from: None where that is not known.

    `extra` is the JSON of what stands beside the rows, which an unchanged list tells again.
    """
    ends = FOREVER if until is None else (until - EPOCH) // timedelta(microseconds=1)
    claims = (NEVER_AGAIN if versions is None else ends).to_bytes(TIME_BYTES, "big") + digest + extra
    signature = _signature(question, versions or (), claims)
    return base64.urlsafe_b64encode(signature + claims).rstrip(b"=").decode("ascii")


def digest_of(question: str, *content: bytes) -> bytes:
    digest = hashlib.sha256(question.encode() + b"\0")
    for part in content:
        digest.update(part)
    return digest.digest()[:DIGEST_BYTES]


class ListVersion:
    """What a caller sent as ifVersion, whatever it is."""

    def __init__(self, text: str) -> None:
        try:
            raw = base64.urlsafe_b64decode(text.encode("ascii") + b"==")
        except (UnicodeEncodeError, binascii.Error):
            raw = b""
        self.text = text
        self._signature, self._claims = raw[:SIGNATURE_BYTES], raw[SIGNATURE_BYTES:]

    @property
    def digest(self) -> bytes:
        """Of what the caller has."""
        return self._claims[TIME_BYTES : TIME_BYTES + DIGEST_BYTES]

    @property
    def extra(self) -> bytes:
        """The JSON beside the rows. To be believed only where the version is good."""
        return self._claims[TIME_BYTES + DIGEST_BYTES :]

    def is_good(self, question: str, versions: tuple[int, ...], now: datetime) -> bool:
        """Whether what it stands for is the answer still: nothing has to be read. It is one of ours, and of this."""
        expected = _signature(question, versions, self._claims)
        if not hmac.compare_digest(self._signature, expected):
            return False
        return (now - EPOCH) // timedelta(microseconds=1) < int.from_bytes(self._claims[:TIME_BYTES], "big")


def _signature(question: str, versions: tuple[int, ...], claims: bytes) -> bytes:
    message = f"{question}\0{versions}\0".encode() + claims
    return mac("porthole.list-version", message)[:SIGNATURE_BYTES]
