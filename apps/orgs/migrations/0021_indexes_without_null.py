"""Rows without a branch, a commit, a number or a preview leave the indexes of these; most of what was deployed are no previews."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orgs", "0020_variables_by_owner"),
    ]

    # What keeps readers waiting, taking away an index, comes last.
    operations = [
        migrations.AddIndex(
            model_name="app",
            index=models.Index(
                condition=models.Q(("branch__isnull", False)),
                fields=["organization", "branch", "sort_key", "id"],
                name="app_of_branch",
            ),
        ),
        migrations.AddIndex(
            model_name="deployment",
            index=models.Index(
                models.F("organization"),
                models.F("branch"),
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("branch__isnull", False)),
                name="deployment_of_branch",
            ),
        ),
        migrations.AddIndex(
            model_name="deployment",
            index=models.Index(
                condition=models.Q(("commit_sha__isnull", False)),
                fields=["organization", "commit_sha"],
                name="deployment_of_commit",
            ),
        ),
        migrations.AddIndex(
            model_name="deployment",
            index=models.Index(
                models.F("organization"),
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("is_preview", True)),
                name="deployment_previewed_o",
            ),
        ),
        migrations.AddIndex(
            model_name="domain",
            index=models.Index(
                condition=models.Q(("preview__isnull", False)), fields=["preview"], name="domain_of_preview"
            ),
        ),
        migrations.AddIndex(
            model_name="preview",
            index=models.Index(
                models.F("organization"),
                models.F("pull_request_number"),
                models.OrderBy(models.F("created_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("pull_request_number__isnull", False)),
                name="preview_of_number",
            ),
        ),
        migrations.RemoveIndex(
            model_name="app",
            name="app_by_branch",
        ),
        migrations.RemoveIndex(
            model_name="deployment",
            name="deployment_branch_of",
        ),
        migrations.RemoveIndex(
            model_name="deployment",
            name="deployment_target_of",
        ),
        migrations.RemoveIndex(
            model_name="deployment",
            name="deployment_commit_of",
        ),
        migrations.RemoveIndex(
            model_name="preview",
            name="preview_number_of",
        ),
        migrations.AlterField(
            model_name="domain",
            name="preview",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="domains",
                to="orgs.preview",
            ),
        ),
    ]
