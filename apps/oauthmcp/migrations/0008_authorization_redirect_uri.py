"""An authorization tells where its code was sent: a client may have several redirect URIs, at different hosts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("oauthmcp", "0007_script_client")]

    operations = [
        migrations.AddField(
            model_name="authorization",
            name="redirect_uri",
            field=models.TextField(
                blank=True, db_default="", default="", editable=False,
                help_text="Where its code was sent. Empty: it is older than this column.",
            ),
        ),
        migrations.AlterField(
            model_name="authorization",
            name="last_used_at",
            field=models.DateTimeField(editable=False, help_text="Accurate to a minute.", null=True),
        ),
    ]  # fmt: skip
