"""A version of the installation's own templates, so that a change of them is no write to every organization."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0017_counts"),
    ]

    operations = [
        migrations.CreateModel(
            name="CatalogueVersion",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ("version", models.PositiveBigIntegerField(default=1)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="one_catalogue")],
            },
        ),
    ]
