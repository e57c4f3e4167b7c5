"""Whether members of an organization may make tokens for scripts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0012_fill_timetables"),
    ]

    operations = [
        migrations.AddField(
            model_name="organization",
            name="allows_script_tokens",
            field=models.BooleanField(
                db_default=True,
                default=True,
                help_text="Whether members may make tokens for scripts.",
                verbose_name="tokens for scripts",
            ),
        ),
    ]
