"""Reading from PostgreSQL past Django's cursors."""

from datetime import UTC, datetime

import pytest
from django.db import DataError, NotSupportedError, ProgrammingError, connection, transaction

from apps.orgs.cursors import fetch
from apps.orgs.postgresql import base, numbered

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


def prepared_at_server() -> set[str]:
    return {sql for (sql,) in connection.connection.execute("SELECT statement FROM pg_prepared_statements").fetchall()}


@needs_postgresql
def test_nothing_is_held_of_rows_that_were_read() -> None:
    fetch("SELECT repeat('x', 1000)", [])
    assert connection.connection.prepared["SELECT repeat('x', 1000)"].adapters.pgresult is None


@needs_postgresql
def test_a_statement_is_prepared_once_for_each_kind_of_values() -> None:
    connection.connection.execute("DEALLOCATE ALL")
    connection.connection.prepared.clear()
    for value in (1, 2, 2**40, 3, None):
        assert fetch("SELECT %s::bigint", [value]) == [(value,)]
    assert prepared_at_server() == {"SELECT $1::bigint"}
    assert len(connection.connection.prepared["SELECT %s::bigint"].prepared) == 3


@needs_postgresql
@pytest.mark.django_db(transaction=True)
def test_a_statement_that_fails_is_not_prepared_again_and_again() -> None:
    for _ in range(3):
        with pytest.raises(DataError, match="division by zero"):
            fetch("SELECT 1 / %s::int", [0])
    prepared = connection.connection.execute(
        "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%/ $1%'"
    )
    assert prepared.fetchone() == (1,)


@needs_postgresql
@pytest.mark.django_db(transaction=True)
def test_a_statement_that_the_server_has_forgotten_is_prepared_anew() -> None:
    assert fetch("SELECT %s::int + 7", [1]) == [(8,)]
    connection.connection.execute("DEALLOCATE ALL")
    with pytest.raises(ProgrammingError, match="does not exist"):
        fetch("SELECT %s::int + 7", [1])
    assert fetch("SELECT %s::int + 7", [1]) == [(8,)]


@needs_postgresql
def test_where_a_pooler_stands_between_nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection.connection, "prepare_threshold", None)
    assert fetch("SELECT 'pooled', %s::int", [1]) == [("pooled", 1)]
    assert "SELECT 'pooled', $1::int" not in prepared_at_server()


@needs_postgresql
def test_the_server_keeps_no_more_than_some_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MAX_PREPARED", 3)
    for number in range(10):
        assert fetch(f"SELECT {number}, %s::int", [number]) == [(number, number)]
        assert len(prepared_at_server()) <= 3


@needs_postgresql
@pytest.mark.django_db(transaction=True)
def test_a_statement_whose_table_has_changed_is_prepared_anew() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE changing AS SELECT 1 AS one")
    try:
        assert fetch("SELECT * FROM changing", []) == [(1,)]
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE changing ADD COLUMN two text DEFAULT 'two'")
        with pytest.raises(NotSupportedError, match="cached plan"):
            fetch("SELECT * FROM changing", [])
        assert fetch("SELECT * FROM changing", []) == [(1, "two")]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE changing")


@needs_postgresql
@pytest.mark.django_db(transaction=True)
def test_a_read_that_comes_first_in_a_transaction_is_in_it() -> None:
    with transaction.atomic():
        (first,) = fetch("SELECT txid_current()", [])
        assert fetch("SELECT txid_current()", []) == [first]
    assert fetch("SELECT txid_current()", []) != [first]


@needs_postgresql
@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_took_long_ends_without_a_health_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its statement would begin the next transaction, and what was committed would be answered with an error."""
    monkeypatch.setattr(connection, "health_check_enabled", True)
    with transaction.atomic():
        fetch("SELECT 1", [])
        connection.answered_at, connection.health_check_done = 0.0, False  # type: ignore[attr-defined]
    assert fetch("SELECT 2", []) == [(2,)]
