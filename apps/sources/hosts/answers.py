"""What is kept of a git host's answers: what is there in the form that it should have, cleaned and cut."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from apps.web.characters import prose

MAX_LOGIN = 100  # as SourceConnection.account_login
MAX_REPOSITORY = 500  # as App.repository
SHOWN = 10
PAGE = SHOWN + 1  # so that it shows whether there are more
# owner/name; GitLab's groups have groups in them.
REPOSITORY = re.compile(r"[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)+")


def text(row: Any, key: str) -> str | None:
    value = row.get(key) if isinstance(row, dict) else None
    return value if isinstance(value, str) else None


def login(row: Any, *keys: str) -> str | None:
    """The first that is told. It is only shown: what cannot be seen is taken out, what is too long is cut."""
    for key in keys:
        if cleaned := prose(text(row, key) or "")[:MAX_LOGIN].strip():
            return cleaned
    return None


def repository(row: Any, key: str) -> str | None:
    """A repository's full name. None where it is none: a part of a name would be another repository's."""
    name = text(row, key) or ""
    return name if is_repository(name) else None


def is_repository(name: str) -> bool:
    is_one = len(name) <= MAX_REPOSITORY and REPOSITORY.fullmatch(name) is not None
    return is_one and not {".", ".."} & set(name.split("/"))


def repositories(rows: Any, key: str) -> tuple[str, ...] | None:
    """All names in a list, sorted. None where it is no list."""
    if not isinstance(rows, list):
        return None
    return tuple(sorted({name for row in rows if (name := repository(row, key))}))


def renamed(name: str | None, from_name: str) -> str | None:
    """The name where it is another one. Hosts do not tell A from a in names."""
    return name if name is not None and name.casefold() != from_name.casefold() else None


def words(told: Any) -> list[str] | None:
    """Scopes, as a list or as a header has them."""
    if isinstance(told, str):
        return [word for part in told.split(",") if (word := part.strip())]
    return [word for word in told if isinstance(word, str)] if isinstance(told, list) else None


def writes(scopes: Iterable[str] | None, reading: re.Pattern[str], writing: re.Pattern[str]) -> bool | None:
    """Whether any scope lets change something. None where one is known neither as reading nor as writing."""
    if scopes is None:
        return None
    told = list(scopes)
    if any(writing.fullmatch(scope) for scope in told):
        return True
    return False if all(reading.fullmatch(scope) for scope in told) else None


def time(told: str | None) -> datetime | None:
    """ISO 8601; a date alone is midnight UTC. GitHub's header has a space, and UTC or +0000 after another one."""
    if not told or len(told) > 40:
        return None
    plain = re.sub(r" ?UTC$", "+00:00", told.strip())
    try:
        parsed = datetime.fromisoformat(re.sub(r" ([+-]\d\d):?(\d\d)$", r"\1:\2", plain))
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
