"""Counts that are kept beside what they count."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0016_drop_like_indexes"),
    ]

    operations = [
        migrations.CreateModel(
            name="OrganizationCounts",
            fields=[
                (
                    "organization",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="counts",
                        serialize=False,
                        to="orgs.organization",
                    ),
                ),
                ("data_version", models.PositiveBigIntegerField()),
                ("projects", models.PositiveIntegerField()),
                ("apps", models.JSONField()),
                ("domains", models.PositiveIntegerField()),
                ("previews", models.PositiveIntegerField()),
                ("deployments", models.JSONField()),
                ("counted_since", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="ProjectCounts",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="counts",
                        serialize=False,
                        to="orgs.project",
                    ),
                ),
                ("apps", models.PositiveIntegerField()),
            ],
        ),
    ]
