"""Indexes: none that nothing reads."""

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db


def test_no_column_has_a_second_index_for_its_beginning() -> None:
    """PostgreSQL would have one of each key and each reference; SQLite knows none."""
    with connection.cursor() as cursor:
        names = [
            name
            for table in connection.introspection.table_names(cursor)
            for name in connection.introspection.get_constraints(cursor, table)
        ]
    assert "deployment_newest" in names
    assert [name for name in names if name.endswith("_like")] == []
