"""PostgreSQL: a search that an index of trigrams does not shorten walks through names and search keys in an index alone.

A key that is too long for an index is in another one, by its name.
"""

from django.db import migrations

INDEXES = (
    "CREATE INDEX app_walked ON orgs_app (organization_id, sort_key, id) INCLUDE (search_key) "
    "WHERE octet_length(search_key) <= 1000 AND hidden_at IS NULL",
    "CREATE INDEX app_walked_long ON orgs_app (organization_id, sort_key, id) "
    "WHERE octet_length(search_key) > 1000 AND hidden_at IS NULL",
)


def add(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in INDEXES:
            schema_editor.execute(statement)


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX app_walked, app_walked_long")


class Migration(migrations.Migration):
    dependencies = [("orgs", "0021_indexes_without_null")]

    operations = [migrations.RunPython(add, remove)]
