"""Takes out of what clients said of themselves what nobody sees. Their names are shown without it already."""

from typing import Any

from django.db import migrations

from apps.orgs.cleaning import clean_rows, one_line


def clean(apps: Any, schema_editor: Any) -> None:
    clients = apps.get_model("oauthmcp", "Application")
    clean_rows(clients, {"name": one_line})
    for client in clients.objects.order_by("pk").only("metadata").iterator(chunk_size=1000):
        metadata = {key: one_line(value) if isinstance(value, str) else value for key, value in client.metadata.items()}
        if metadata != client.metadata:
            clients.objects.filter(pk=client.pk).update(metadata=metadata)


class Migration(migrations.Migration):
    dependencies = [("oauthmcp", "0004_registrants")]

    operations = [migrations.RunPython(clean, migrations.RunPython.noop)]
