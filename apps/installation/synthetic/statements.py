"""Statements by which a database makes many rows itself, and the words of SQL in them, for both databases."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, models

from apps.installation.synthetic.sizes import Sizes

BATCH = 500_000  # rows of one statement
SCATTER = 2654435761  # a prime: multiplied by it, numbers that follow each other lie far apart
STRIDES = (2654435761, 2246822519, 3266489917, 668265263, 374761393, 3042594569)


def _is_postgresql() -> bool:
    return connection.vendor == "postgresql"


@dataclass(frozen=True, slots=True)
class Statement:
    """`number` rows of a table, the n-th from SQL over `n` and over `s`, the skeleton's row of the number `at`.

    Columns that are not given have their default, or are null.
    """

    model: Any
    number: int
    columns: Mapping[str, str]
    skeleton: str = ""
    at: str = "n"

    @property
    def table(self) -> str:
        return str(self.model._meta.db_table)

    def sql(self, now: str) -> Iterator[tuple[int, str]]:
        """Each with the number of rows that are there after it. `now` is SQL."""
        known = {field.column: default_of(field, now) for field in self.model._meta.concrete_fields} | dict(
            self.columns
        )
        names = ", ".join(map(connection.ops.quote_name, known))
        join = f" JOIN {self.skeleton} s ON s.number = {self.at}" if self.skeleton else ""
        for first in range(0, self.number, BATCH):
            last = min(first + BATCH, self.number) - 1
            yield (
                last + 1,
                f"{_numbers(first, last)} INSERT INTO {self.table} ({names}) "
                f"SELECT {', '.join(known.values())} FROM numbers{join}",
            )


def _numbers(first: int, last: int) -> str:
    if _is_postgresql():
        return f"WITH numbers AS NOT MATERIALIZED (SELECT * FROM generate_series({first}, {last}::bigint) AS series(n))"
    return f"WITH RECURSIVE numbers(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})"


def default_of(field: models.Field[Any, Any], now: str) -> str:
    if field.null:
        return "NULL"
    match field.get_internal_type():
        case "BigAutoField":
            return "n + 1"
        case "DateTimeField":
            return now
        case "BooleanField":
            return "1 = 1" if field.get_default() else "1 = 0"
        case "JSONField":
            return "'{}'" if field.default is dict else "'[]'"
        case "CharField" | "TextField":
            return f"'{field.get_default()}'"
    return str(field.get_default() or 0)


@dataclass(frozen=True, slots=True)
class Words:
    """SQL that both databases understand. Where it draws, it does so by `n` and the seed."""

    sizes: Sizes

    def id(self, prefix: str, number: str = "n") -> str:
        """The id of that number, as `Sizes.id` makes it."""
        return f"('{prefix}_' || SUBSTR(MD5('{self.sizes.seed}-{prefix}-' || ({number})), 1, 26))"

    def drawn(self, column: int, of: int) -> str:
        """One of 0 … of - 1, for the n-th row; columns of different numbers do not follow each other."""
        return f"((CAST(n AS bigint) + {self.sizes.seed}) * {STRIDES[column]} / 65536 % {of})"

    def one_of(self, column: int, *texts: str) -> str:
        """One of these; what is there twice is twice as frequent."""
        arms = " ".join(f"WHEN {number} THEN '{text}'" for number, text in enumerate(texts[:-1]))
        return f"(CASE {self.drawn(column, len(texts))} {arms} ELSE '{texts[-1]}' END)"

    def ago(self, seconds: str) -> str:
        """The moment so many seconds before `now`, as the database keeps it; whole seconds."""
        now = self.moment(self.sizes.now)
        if _is_postgresql():
            return f"({now} - ({seconds}) * INTERVAL '1 second')"
        return f"DATETIME({now}, (-({seconds})) || ' seconds')"

    def moment(self, time: datetime) -> str:
        """As the database keeps it; whole seconds."""
        text = f"{time:%Y-%m-%d %H:%M:%S}"
        return f"TIMESTAMPTZ '{text}+00'" if _is_postgresql() else f"'{text}'"

    def hour(self, time: str) -> str:
        """Hours since 1970, UTC."""
        seconds = f"EXTRACT(EPOCH FROM {time})" if _is_postgresql() else f"STRFTIME('%s', {time})"
        return f"(CAST({seconds} AS bigint) / 3600)"

    def json_object(self, name: str, value: str) -> str:
        """Of all rows one object; an empty one of none."""
        if _is_postgresql():
            return f"COALESCE(JSONB_OBJECT_AGG({name}, {value}), '{{}}')"
        return f"JSON_GROUP_OBJECT({name}, {value})"

    def spread_over(self, time: timedelta, rows: int) -> str:
        """Of so many rows the first is the newest, and the last is older by all of `time`."""
        return self.ago(f"CAST(n AS bigint) * {int(time.total_seconds())} / {rows}")

    def scattered(self, number: str, over: int) -> str:
        """One of 0 … over - 1: each once before any comes again."""
        return f"(({number}) * {SCATTER} % {over})"

    def uuid(self, text: str) -> str:
        """A UUID from a hash of text."""
        return f"CAST(MD5({text}) AS uuid)" if _is_postgresql() else f"MD5({text})"
