"""Help texts in the field's terms."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0006_split_facts_by_owner"),
    ]

    operations = [
        migrations.AlterField(
            model_name="deployment",
            name="is_preview",
            field=models.BooleanField(default=False, help_text="It deployed a preview, which may be deleted by now."),
        ),
        migrations.AlterField(
            model_name="user",
            name="password_changed_at",
            field=models.DateTimeField(
                editable=False, help_text="Sessions and authorizations from before are not valid any more.", null=True
            ),
        ),
    ]
