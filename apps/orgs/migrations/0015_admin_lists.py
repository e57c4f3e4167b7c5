"""Indexes that lists and overviews of every organization go by."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0014_search_keys"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="deployment",
            name="deployment_of",
        ),
        migrations.RemoveIndex(
            model_name="environment",
            name="environment_of",
        ),
        migrations.AddIndex(
            model_name="deployment",
            index=models.Index(
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                models.F("search_key"),
                name="deployment_of_all",
            ),
        ),
        migrations.AddIndex(
            model_name="deployment",
            index=models.Index(
                models.F("status"),
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="deployment_status_of_all",
            ),
        ),
        migrations.AddIndex(
            model_name="deployment",
            index=models.Index(
                models.F("organization"),
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                models.F("search_key"),
                name="deployment_of",
            ),
        ),
        migrations.AddIndex(
            model_name="edgefact",
            index=models.Index(fields=["tls_not_after"], name="edge_by_expiry"),
        ),
        migrations.AddIndex(
            model_name="environment",
            index=models.Index(fields=["organization", "sort_key", "id"], name="environment_of"),
        ),
        migrations.AddIndex(
            model_name="healthtimetable",
            index=models.Index(fields=["level_1", "until_1"], name="health_first_of_all"),
        ),
        migrations.AddIndex(
            model_name="healthtimetable",
            index=models.Index(
                condition=models.Q(("level_2__isnull", False)),
                fields=["level_2", "until_1"],
                name="health_second_of_all",
            ),
        ),
        migrations.AddIndex(
            model_name="healthtimetable",
            index=models.Index(
                condition=models.Q(("level_3__isnull", False)),
                fields=["level_3", "until_2"],
                name="health_third_of_all",
            ),
        ),
        migrations.AddIndex(
            model_name="healthtimetable",
            index=models.Index(
                condition=models.Q(("level_4__isnull", False)),
                fields=["level_4", "until_3"],
                name="health_fourth_of_all",
            ),
        ),
        migrations.AddIndex(
            model_name="organization",
            index=models.Index(fields=["slug", "search_key", "id"], name="organization_by_slug"),
        ),
    ]
