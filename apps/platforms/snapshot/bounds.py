"""What a field of a snapshot may hold. Each bound reads a file's text and says, without repeating it, what is wrong."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from apps.orgs.models.names import NAME_PATTERN, REFERENCE_PATTERN
from apps.platforms.snapshot.values import looks_like_a_value
from apps.web.characters import is_plain, prose

BIGGEST_INTEGER = 2_147_483_647
# Lone surrogates are no characters at all: neither database can keep them.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# An address with a user name or password in it, such as https://user:password@host. Git's own errors quote them.
USERINFO = re.compile(r"(?<=://)[^\s/?#@]*@")
HOST = re.compile(r"(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?")
PATH = re.compile(r"/[^\s?#\\]*")
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]*(?:@sha256:[0-9a-f]{64})?")
TAG = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
SHA = re.compile(r"[0-9a-f]{7,64}")
TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
RATIO = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")


class Bound:
    """One kind of value. `read` raises ValueError with a sentence, `problem` returns one or None."""

    def read(self, text: str) -> Any:
        return text

    def problem(self, value: Any) -> str | None:
        raise NotImplementedError

    def clean(self, value: Any) -> Any:
        """The one spelling under which an acceptable value is stored."""
        return value


@dataclass(frozen=True)
class Text(Bound):
    """An identifier: one that holds what nobody sees is refused, since without it it would name something else."""

    maximum: int

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, str) or not 1 <= len(value) <= self.maximum:
            return f"must be text of 1 to {self.maximum} characters"
        if value.isspace():
            return "must not be blank"
        if CONTROL.search(value):
            return "must not hold control characters or line breaks"
        if not is_plain(value):
            return "must not hold characters that are not seen"
        if USERINFO.search(value):
            return "must not hold an address with a user name or a password"
        return None


@dataclass(frozen=True)
class Prose(Text):
    """What people wrote for people. It is stored without what nobody sees, and only the rest is judged."""

    lines: bool = False  # whether line breaks and tabs may be in it

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, str) or not 1 <= len(value) <= self.maximum:
            return f"must be text of 1 to {self.maximum} characters"
        kept = self.clean(value)
        if not kept or kept.isspace():
            return "must not be blank"
        return "must not hold an address with a user name or a password" if USERINFO.search(kept) else None

    def clean(self, value: Any) -> Any:
        return prose(value, lines=self.lines)


@dataclass(frozen=True)
class Matching(Text):
    """Text of one form; `form` says which, for people."""

    pattern: re.Pattern[str] = HOST
    form: str = ""

    def problem(self, value: Any) -> str | None:
        problem = super().problem(value)
        return problem or (None if self.pattern.fullmatch(value) else f"must be {self.form}")


@dataclass(frozen=True)
class Name(Bound):
    """The name of a variable or a secret, or (with `reference`) of something its value refers to."""

    reference: bool = False

    def problem(self, value: Any) -> str | None:
        pattern = REFERENCE_PATTERN if self.reference else NAME_PATTERN
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            example, most = ("project.DATABASE_URL", 192) if self.reference else ("DATABASE_URL", 128)
            return (
                f"must be a name such as {example} (letters, digits, _ . -, at most {most} characters) and nothing "
                "more: values are never stored"
            )
        return "looks like a value, not a name: values are never stored" if looks_like_a_value(value) else None


@dataclass(frozen=True)
class Host(Bound):
    def problem(self, value: Any) -> str | None:
        if isinstance(value, str) and len(value) <= 253 and HOST.fullmatch(value) and ".." not in value:
            return None
        return "must be a host name in lower case, such as shop.example.com (at most 253 characters)"


@dataclass(frozen=True)
class Url(Bound):
    maximum: int

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, str) or len(value) > self.maximum or not _is_web_address(value):
            return f"must be an http:// or https:// address of at most {self.maximum} characters"
        if "@" in urlsplit(value).netloc:
            return "must not hold a user name or a password"
        return None


def _is_web_address(value: str) -> bool:
    if not value.startswith(("http://", "https://")) or re.search(r"[\s\\]", value) or not is_plain(value):
        return False
    try:
        parts = urlsplit(value)
        return bool(parts.hostname) and (parts.port or 0) >= 0  # .port raises where it is no port
    except ValueError:
        return False


@dataclass(frozen=True)
class Choice(Bound):
    values: tuple[str, ...]

    def problem(self, value: Any) -> str | None:
        return None if isinstance(value, str) and value in self.values else f"must be one of {', '.join(self.values)}"

    def clean(self, value: Any) -> Any:
        return str(value)


@dataclass(frozen=True)
class Integer(Bound):
    low: int = 0
    high: int = BIGGEST_INTEGER

    @property
    def sentence(self) -> str:
        return f"must be a whole number from {self.low} to {self.high}"

    def read(self, text: str) -> int:
        if not re.fullmatch(r"0|[1-9][0-9]{0,18}", text):
            raise ValueError(self.sentence)
        return int(text)

    def problem(self, value: Any) -> str | None:
        fits = isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high
        return None if fits else self.sentence


@dataclass(frozen=True)
class Ratio(Bound):
    """A number from 0 to 1."""

    def read(self, text: str) -> float:
        if not RATIO.fullmatch(text):
            raise ValueError("must be a number from 0 to 1")
        return float(text)

    def problem(self, value: Any) -> str | None:
        fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        return None if fits else "must be a number from 0 to 1"

    def clean(self, value: Any) -> Any:
        return float(value) + 0.0  # -0.0 becomes 0.0


@dataclass(frozen=True)
class Boolean(Bound):
    def read(self, text: str) -> bool:
        if text not in ("true", "false"):
            raise ValueError("must be true or false")
        return text == "true"

    def problem(self, value: Any) -> str | None:
        return None if isinstance(value, bool) else "must be true or false"


@dataclass(frozen=True)
class Time(Bound):
    """A moment, kept in UTC and to the millisecond."""

    def read(self, text: str) -> datetime:
        sentence = "must be a time with an offset, such as 2026-01-31T12:00:00Z"
        found = TIME.fullmatch(text)
        if not found:
            raise ValueError(sentence)
        day, clock, fraction, offset = found.groups()
        offset = "+00:00" if offset in "Zz" else offset
        try:
            moment = datetime.fromisoformat(f"{day}T{clock}{(fraction or '.0')[:4]:0<4}{offset}")
        except ValueError:
            raise ValueError(sentence) from None
        return moment if self.problem(moment) else self.clean(moment)

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, datetime) or value.tzinfo is None:
            return "must be a time with an offset"
        # Room at both ends, so that no conversion to another offset can leave what a datetime can hold.
        return None if 1970 <= value.year <= 2999 else "must be a time from the years 1970 to 2999"

    def clean(self, value: Any) -> Any:
        moment = value.astimezone(UTC)
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@dataclass(frozen=True)
class Ref(Bound):
    """The key of another entry, in the collection of that name."""

    collection: str

    def problem(self, value: Any) -> str | None:
        return Text(128).problem(value)


@dataclass(frozen=True)
class Items(Bound):
    """A list: of values that `of` bounds, or of records of the type `of`."""

    of: Any
    maximum: int
    unique: bool = False

    def problem(self, value: Any) -> str | None:
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > self.maximum:
            return f"must be a list of at most {self.maximum}"
        if self.unique and len(set(value)) < len(value):
            return "must not say the same thing twice"
        return None
