"""Fills the keys of rows that no sync made: until now only syncs and single saves wrote them."""

from django.db import migrations
from django.db.models import Q

from apps.orgs.text import fold

BATCH = 1000
SEPARATOR = "\x1f"
# By model: what its search key is made of. Its sort key is the name.
SEARCHED = {
    "SourceConnection": (),
    "Project": ("name", "description"),
    "Environment": (),
    "App": ("name", "slug", "description", "repository"),
    "EnvVarName": (),
    "OrgSecretName": (),
    "Template": ("name", "description", "tags"),
}


def fill(apps, schema_editor):
    for name, searched in SEARCHED.items():
        rows = apps.get_model("orgs", name).objects.using(schema_editor.connection.alias)
        _fill(rows, searched)


def _fill(rows, searched):
    columns = ["sort_key", "search_key"] if searched else ["sort_key"]
    empty = Q(sort_key="") | Q(search_key="") if searched else Q(sort_key="")
    ids = list(rows.filter(empty).values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        batch = list(rows.filter(pk__in=ids[start : start + BATCH]))
        for row in batch:
            row.sort_key = fold(row.name)
            row.search_key = fold(SEPARATOR.join(getattr(row, column) or "" for column in searched))
        rows.bulk_update(batch, columns, batch_size=BATCH)


class Migration(migrations.Migration):
    dependencies = [("orgs", "0004_password_changed_at")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
