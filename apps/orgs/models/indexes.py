"""Indexes that the two databases do not have in the same form."""

from typing import Any

from django.db import models

COLUMNS = "organization_id, sort_key, id"
# PostgreSQL takes no long keys into an index (narrowing.SIZES, in bytes). SQLite does: the second one is empty there.
FORMS = {
    ("postgresql", "app_walked"): f"({COLUMNS}) INCLUDE (search_key) WHERE OCTET_LENGTH(search_key) <= 1000 AND",
    ("postgresql", "app_walked_long"): f"({COLUMNS}) WHERE OCTET_LENGTH(search_key) > 1000 AND",
    ("sqlite", "app_walked"): f"({COLUMNS}, search_key) WHERE",
    ("sqlite", "app_walked_long"): f"({COLUMNS}) WHERE search_key IS NULL AND",
}


class WalkedIndex(models.Index):
    """Visible applications by name with their search keys: a search that no index shortens reads nothing else.

    Those whose key is long are in an index of their own, by name alone.
    """

    def create_sql(self, model: Any, schema_editor: Any, using: str = "", **kwargs: Any) -> Any:
        form = FORMS[schema_editor.connection.vendor, self.name]
        return f"CREATE INDEX {self.name} ON {model._meta.db_table} {form} hidden_at IS NULL"
