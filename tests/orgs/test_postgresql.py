"""Reading from PostgreSQL past Django's cursors."""

from datetime import UTC, datetime

import pytest
from django.db import DataError, connection

from apps.orgs.cursors import fetch
from apps.orgs.postgresql import numbered

pytestmark = pytest.mark.django_db
needs_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="how PostgreSQL is read")


@pytest.mark.parametrize(
    ("sql", "raw", "names"),
    [
        ("SELECT 1", "SELECT 1", ()),
        ("SELECT %s, %s", "SELECT $1, $2", ("0", "1")),
        ("SELECT %(a)s, %(b)s, %(a)s", "SELECT $1, $2, $1", ("a", "b")),
        ("SELECT '%%s', '%%', %s", "SELECT '%s', '%', $1", ("0",)),
    ],
)
def test_places_of_parameters_become_numbers(sql: str, raw: str, names: tuple[str, ...]) -> None:
    assert numbered(sql) == (raw, names)


@needs_postgresql
def test_a_statement_answers_alike_however_often_it_is_asked() -> None:
    for number in (1, 2**40, 3):
        assert fetch("SELECT %(a)s + 1, '%%', %(a)s", {"a": number}) == [(number + 1, "%", number)]
        assert fetch("SELECT %s::bigint, %s::text", [number, "%s"]) == [(number, "%s")]


@needs_postgresql
def test_times_are_read_and_what_is_no_time_is_told() -> None:
    time = datetime(2026, 1, 31, 12, 0, 0, 500, UTC)
    assert fetch("SELECT %s::timestamptz, NULL::timestamptz", [time]) == [(time, None)]
    with pytest.raises(DataError, match="timestamp too large"):
        fetch("SELECT %s::timestamptz", ["infinity"])


@needs_postgresql
def test_nothing_is_held_of_rows_that_were_read() -> None:
    fetch("SELECT repeat('x', 1000)", [])
    prepared = connection.connection.prepared["SELECT repeat('x', 1000)"]
    assert prepared.pgresult is None
    assert not prepared._results
    assert prepared._tx.pgresult is None
