"""Rows that PostgreSQL writes as JSON: a column of text instead of some dozens that are put together here."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.orgs.rows import AS_JSON, Shown

# Of what Django calls types: those that PostgreSQL writes in JSON as Python does. A time is text by then (TimeText).
SAME = {
    "BigIntegerField", "BooleanField", "CharField", "IntegerField", "PositiveBigIntegerField", "PositiveIntegerField",
    "PositiveSmallIntegerField", "SmallIntegerField", "TextField", "URLField",
}  # fmt: skip


class JsonSql(NamedTuple):
    """A statement, and the names of its columns, without the one that may follow them."""

    sql: str
    names: tuple[str, ...]


def json_sql(
    sql: str, names: Sequence[str], kinds: Sequence[str], shown: Shown, order: Sequence[str], *, is_followed: bool
) -> JsonSql | None:
    """The same rows in the same order: what is shown as JSON, and whatever else there is, or is ordered by.

    `is_followed`: another column comes after those that have names. None where something shown is not the same in JSON.
    """
    columns = {name: f"r.c{at}" for at, name in enumerate(names)}
    told = list(_columns_of(shown))
    if not all(name in columns and kinds[names.index(name)] in SAME for name in told):
        return None
    others = [name for name in names if name not in told or name in order]
    aliases = ", ".join(f"c{at}" for at in range(len(names) + is_followed))
    selected = [columns[name] for name in others] + [f"{_object(shown, columns)}::text"]
    selected += [f"r.c{len(names)}"] * is_followed
    return JsonSql(f"SELECT {', '.join(selected)} FROM ({sql}) r({aliases})", (*others, AS_JSON))  # noqa: S608


def _columns_of(shown: Shown) -> list[str]:
    return [column for _, of in shown for column in ([of] if isinstance(of, str) else _columns_of(of))]


def _object(shown: Shown, columns: dict[str, str]) -> str:
    """Of a row: names in their order and nothing between them, as orjson writes it."""
    members = (f'{columns[of] if isinstance(of, str) else _object(of, columns)} AS "{name}"' for name, of in shown)
    return f"(SELECT row_to_json(j) FROM (SELECT {', '.join(members)}) j)"  # noqa: S608
