"""The table of the cache that all processes share (CACHES in config/settings.py)."""

from django.core.management import call_command
from django.db import migrations


def make_table(apps, schema_editor):
    call_command("createcachetable", "porthole_cache", database=schema_editor.connection.alias, verbosity=0)


def drop_table(apps, schema_editor):
    schema_editor.execute("DROP TABLE porthole_cache")


class Migration(migrations.Migration):
    dependencies = [("orgs", "0002_invitations")]

    operations = [migrations.RunPython(make_table, drop_table)]
