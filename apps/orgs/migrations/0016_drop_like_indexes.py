"""PostgreSQL: keys are compared by code point, and nothing long is searched by its beginning, so none needs a second index for LIKE."""

from django.db import migrations

TWINS = """
SELECT DISTINCT i.indexrelid::regclass::text FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_opclass o ON o.oid = ANY(i.indclass)
WHERE c.relnamespace = current_schema()::regnamespace AND right(c.relname, 5) = '_like'
AND o.opcname IN ('varchar_pattern_ops', 'text_pattern_ops')
"""


def drop(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(TWINS)
        for (index,) in cursor.fetchall():
            cursor.execute(f"DROP INDEX {index}")


class Migration(migrations.Migration):
    dependencies = [("orgs", "0015_admin_lists")]

    operations = [migrations.RunPython(drop, migrations.RunPython.noop)]
