"""Verbose names and help texts in the field's terms."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("oauthmcp", "0002_docs_client"),
    ]

    operations = [
        migrations.AlterField(
            model_name="application",
            name="authorized_at",
            field=models.DateTimeField(
                editable=False, help_text="When it was first authorized. Empty: it may be deleted as unused.", null=True
            ),
        ),
        migrations.AlterField(
            model_name="application",
            name="metadata",
            field=models.JSONField(
                blank=True, default=dict, help_text="Client metadata of its registration (RFC 7591 §2)."
            ),
        ),
        migrations.AlterField(
            model_name="authorization",
            name="expires_at",
            field=models.DateTimeField(help_text="Extended by each refresh."),
        ),
        migrations.AlterField(
            model_name="authorization",
            name="last_used_at",
            field=models.DateTimeField(editable=False, help_text="Accurate to five minutes.", null=True),
        ),
        migrations.AlterField(
            model_name="grant",
            name="authorization",
            field=models.ForeignKey(
                help_text="The authorization that it was exchanged for.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="oauthmcp.authorization",
            ),
        ),
    ]
