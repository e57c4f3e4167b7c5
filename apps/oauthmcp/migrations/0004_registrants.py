"""Where clients registered from, and when users were asked to authorize them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("oauthmcp", "0003_use_standard_terms"),
    ]

    operations = [
        migrations.AddField(
            model_name="application",
            name="registrant_address",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=32),
        ),
        migrations.AddField(
            model_name="application",
            name="registrant_network",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=32),
        ),
        migrations.AddField(
            model_name="application",
            name="requested_at",
            field=models.DateTimeField(
                editable=False, help_text="When a user was last asked to authorize it for the first time.", null=True
            ),
        ),
        migrations.AddIndex(
            model_name="application",
            index=models.Index(
                condition=models.Q(("authorized_at", None)),
                fields=["registrant_address", "created"],
                name="never_used_by_address",
            ),
        ),
        migrations.AddIndex(
            model_name="application",
            index=models.Index(
                condition=models.Q(("authorized_at", None)),
                fields=["registrant_network", "created"],
                name="never_used_by_network",
            ),
        ),
    ]
