"""Names of variables are found in order by where they are set."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0019_smaller_index_of_previews"),
    ]

    # What keeps readers waiting, taking away an index, comes last.
    operations = [
        migrations.AddIndex(
            model_name="envvarname",
            index=models.Index(
                condition=models.Q(("app__isnull", False)),
                fields=["app", "sort_key", "scope", "id"],
                name="variable_on_app",
            ),
        ),
        migrations.AddIndex(
            model_name="envvarname",
            index=models.Index(
                condition=models.Q(("environment__isnull", False)),
                fields=["environment", "sort_key", "scope", "id"],
                name="variable_on_environment",
            ),
        ),
        migrations.AddIndex(
            model_name="envvarname",
            index=models.Index(
                condition=models.Q(("project__isnull", False)),
                fields=["project", "sort_key", "scope", "id"],
                name="variable_on_project",
            ),
        ),
        migrations.AlterField(
            model_name="envvarname",
            name="app",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="variables",
                to="orgs.app",
            ),
        ),
        migrations.AlterField(
            model_name="envvarname",
            name="environment",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="variables",
                to="orgs.environment",
            ),
        ),
        migrations.AlterField(
            model_name="envvarname",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="variables",
                to="orgs.project",
            ),
        ),
    ]
