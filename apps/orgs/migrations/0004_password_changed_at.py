from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0003_shared_cache"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="password_changed_at",
            field=models.DateTimeField(
                editable=False, help_text="What was let in before does not get in any more.", null=True
            ),
        ),
    ]
