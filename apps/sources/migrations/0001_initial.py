"""What operators gave Porthole to read git hosts with."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("orgs", "0024_own_credentials"),
    ]

    operations = [
        migrations.CreateModel(
            name="SourceCredentials",
            fields=[
                (
                    "connection",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="stored_credentials",
                        serialize=False,
                        to="orgs.sourceconnection",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("access_token", "Access token"),
                            ("basic", "User name and token"),
                            ("deploy_token", "Deploy token"),
                            ("github_app", "GitHub App"),
                        ],
                        max_length=12,
                    ),
                ),
                ("base_url", models.CharField(max_length=500)),
                ("username", models.CharField(max_length=200, null=True)),
                ("app_id", models.CharField(max_length=100, null=True)),
                ("installation_id", models.CharField(max_length=100, null=True)),
                ("encrypted_secret", models.TextField(editable=False)),
                (
                    "can_write",
                    models.BooleanField(editable=False, help_text="Whether they could change something.", null=True),
                ),
                ("expires_at", models.DateTimeField(editable=False, null=True)),
                ("checked_at", models.DateTimeField(editable=False)),
            ],
            options={
                "verbose_name": "source credentials",
                "verbose_name_plural": "source credentials",
            },
        ),
    ]
