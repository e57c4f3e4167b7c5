"""Searches that no index shortens walk through names and search keys in an index alone."""

from django.db import migrations

from apps.orgs.models.indexes import WalkedIndex

FIELDS = ["organization", "sort_key", "id"]


class Migration(migrations.Migration):
    dependencies = [("orgs", "0021_indexes_without_null")]

    operations = [
        migrations.AddIndex("app", WalkedIndex(fields=FIELDS, name="app_walked")),
        migrations.AddIndex("app", WalkedIndex(fields=FIELDS, name="app_walked_long")),
    ]
