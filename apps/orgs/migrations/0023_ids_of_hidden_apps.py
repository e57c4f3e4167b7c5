"""Which applications are hidden, which every list asks, the index alone tells."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orgs", "0022_search_by_walking")]

    operations = [
        migrations.AddIndex(
            "app",
            models.Index(
                fields=["organization", "id"], condition=models.Q(hidden_at__isnull=False), name="app_hidden_of"
            ),
        ),
        migrations.RemoveIndex("app", "app_hidden"),
    ]
