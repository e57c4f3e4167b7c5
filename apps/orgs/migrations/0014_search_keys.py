"""Titles of deployments and names of organizations get a key to be searched in, as other names have one."""

from django.db import migrations, models
from django.db.models.functions import Collate, Length, Lower

from apps.orgs.text import fold

BATCH = 1000
KEYS = (("Deployment", "title"), ("Organization", "name"))


class Bytes(models.Func):
    function = "OCTET_LENGTH"
    output_field = models.IntegerField()

    def as_sqlite(self, compiler, connection, **context):
        return self.as_sql(compiler, connection, template="LENGTH(CAST(%(expressions)s AS BLOB))", **context)


def fill(apps, schema_editor):
    for name, column in KEYS:
        _fill(apps.get_model("orgs", name).objects, column, schema_editor.connection)


def _fill(manager, column, connection):
    """The database folds ASCII, which is nearly all there is; Python the rest."""
    rows = manager.using(connection.alias)
    is_postgresql = connection.vendor == "postgresql"  # in Turkish it has an I of its own
    rows.update(search_key=Lower(Collate(column, "C") if is_postgresql else column))
    ids = list(rows.alias(size=Bytes(column)).exclude(size=Length(column)).values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        batch = list(rows.filter(pk__in=ids[start : start + BATCH]).only("pk", column))
        for row in batch:
            row.search_key = fold(getattr(row, column))
        rows.bulk_update(batch, ["search_key"], batch_size=BATCH)


class Migration(migrations.Migration):
    dependencies = [("orgs", "0013_allow_script_tokens")]

    operations = [
        *(migrations.AddField(name, "search_key", models.TextField(db_default="", editable=False)) for name, _ in KEYS),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
