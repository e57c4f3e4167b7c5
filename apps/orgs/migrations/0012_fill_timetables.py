"""Every application that is stored gets its timetable of health."""

from typing import Any

from django.db import migrations

from apps.orgs.timetables import refresh

BATCH = 5000


def fill(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("orgs", "App").objects.order_by("pk").values_list("pk", flat=True)
    last = ""
    while ids := list(rows.filter(pk__gt=last)[:BATCH]):
        refresh(ids, apps)
        last = ids[-1]


class Migration(migrations.Migration):
    dependencies = [("orgs", "0011_clean_text")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
