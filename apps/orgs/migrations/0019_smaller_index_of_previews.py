"""Deployments that deployed no preview leave the index of previews."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0018_catalogue_version"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="deployment",
            name="deployment_of_preview",
        ),
        migrations.AddIndex(
            model_name="deployment",
            index=models.Index(
                models.F("preview"),
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("preview__isnull", False)),
                name="deployment_of_preview",
            ),
        ),
    ]
