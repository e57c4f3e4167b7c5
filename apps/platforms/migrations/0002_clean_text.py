"""Takes out of what platforms said of themselves what nobody sees."""

from typing import Any

from django.db import migrations

from apps.orgs.cleaning import clean_rows, name, one_line


def clean(apps: Any, schema_editor: Any) -> None:
    columns = {"organization_name": name, "role": one_line, "last_error": one_line}
    clean_rows(apps.get_model("platforms", "PlatformConnection"), columns)


class Migration(migrations.Migration):
    dependencies = [("platforms", "0001_initial")]

    operations = [migrations.RunPython(clean, migrations.RunPython.noop)]
