"""Whether Porthole has credentials of its own for a source connection."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0023_ids_of_hidden_apps"),
    ]

    operations = [
        migrations.AddField(
            model_name="sourceconnection",
            name="own_credentials",
            field=models.CharField(
                choices=[("none", "None"), ("working", "Working"), ("refused", "Refused")],
                default="none",
                editable=False,
                help_text="Whether Porthole has credentials of its own for it, and the host takes them.",
                max_length=7,
            ),
        ),
    ]
