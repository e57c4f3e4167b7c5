"""Cleans rows that were stored before text by outsiders was. Migrations run it, on the models of their own time."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from apps.orgs.text import fold
from apps.web.characters import SUSPECT, is_plain, prose

BATCH = 1000
SEPARATOR = "\x1f"
NAMELESS = "–"  # in place of a name in which nothing was to be seen
Clean = Callable[[str], str | None]

one_line: Clean = prose
lines: Clean = partial(prose, lines=True)


def name(text: str) -> str:
    kept = prose(text)
    return kept if kept.strip() or not text.strip() else NAMELESS


def dropped(text: str) -> str | None:
    """An identifier that may be unknown: without what is not seen it would name something else."""
    return text if is_plain(text) else None


def escaped(maximum: int) -> Clean:
    """An identifier that has to be there: as it is shown, so that all can see what it holds."""

    def clean(text: str) -> str:
        shown = text if is_plain(text) else SUSPECT.sub(lambda found: f"\\u{{{ord(found[0]):04x}}}", text)
        return shown if len(shown) <= maximum else hashlib.sha256(text.encode()).hexdigest()

    return clean


def clean_rows(
    model: Any, columns: Mapping[str, Clean], *, sort_key: str | None = None, search_key: tuple[str, ...] = ()
) -> int:
    """Cleans these columns, a batch at a time, and says how many rows that changed.

    `sort_key` and `search_key` name the columns that they follow from.
    """
    written = 0
    for rows in _batches(model, list(columns)):
        found = list(model.objects.filter(pk__in=[pk for pk, *texts in rows if _is_dirty(texts, columns.values())]))
        for row in found:
            for column, clean in columns.items():
                if (text := getattr(row, column)) is not None:
                    setattr(row, column, clean(text))
            if sort_key:
                row.sort_key = fold(getattr(row, sort_key))
            if search_key:
                row.search_key = fold(SEPARATOR.join(getattr(row, column) or "" for column in search_key))
        keys = [*(["sort_key"] if sort_key else []), *(["search_key"] if search_key else [])]
        model.objects.bulk_update(found, [*columns, *keys])
        written += len(found)
    return written


def _is_dirty(texts: Iterable[Any], cleans: Iterable[Clean]) -> bool:
    pairs = zip(texts, cleans, strict=True)
    return any(isinstance(text, str) and clean(text) != text for text, clean in pairs)


def _batches(model: Any, columns: list[str]) -> Iterator[list[Any]]:
    rows = model.objects.order_by("pk").values_list("pk", *columns)
    batch = list(rows[:BATCH])
    while batch:
        yield batch
        batch = list(rows.filter(pk__gt=batch[-1][0])[:BATCH])
