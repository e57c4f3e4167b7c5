"""Names of clients get a key to be searched in, as other names have one."""

from typing import Any

from django.db import migrations, models

from apps.orgs.text import fold

BATCH = 1000


def fill(apps: Any, schema_editor: Any) -> None:
    clients = apps.get_model("oauthmcp", "Application").objects.using(schema_editor.connection.alias)
    ids = list(clients.values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        batch = list(clients.filter(pk__in=ids[start : start + BATCH]).only("pk", "name"))
        for client in batch:
            client.search_key = fold(client.name)
        clients.bulk_update(batch, ["search_key"])


class Migration(migrations.Migration):
    dependencies = [("oauthmcp", "0009_fill_authorization_redirect_uri")]

    operations = [
        migrations.AddField("application", "search_key", models.TextField(db_default="", editable=False)),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex(
            "application",
            models.Index(models.F("id").desc(), models.F("search_key"), name="clients_by_age"),
        ),
    ]
