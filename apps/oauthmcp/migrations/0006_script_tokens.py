"""Tokens for scripts: names of authorizations."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("oauthmcp", "0005_clean_names"),
    ]

    operations = [
        migrations.CreateModel(
            name="ScriptToken",
            fields=[
                (
                    "authorization",
                    models.OneToOneField(
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="script_token",
                        serialize=False,
                        to="oauthmcp.authorization",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "reminded_at",
                    models.DateTimeField(
                        editable=False, help_text="When whoever made it was told that it ends soon.", null=True
                    ),
                ),
                (
                    "ended_by",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Ended by an operator"),
                            ("member", "Ended by whoever made it"),
                            ("owner", "Ended by an owner of the organization"),
                            ("organization", "The organization forbade tokens for scripts"),
                        ],
                        default="",
                        editable=False,
                        max_length=12,
                    ),
                ),
            ],
            options={"verbose_name": "token for scripts", "verbose_name_plural": "tokens for scripts"},
        ),
    ]
