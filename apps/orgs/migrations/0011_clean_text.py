"""Takes out of what is stored what nobody sees, as is done from now on before it is stored."""

from typing import Any

from django.db import migrations
from django.db.models import F

from apps.orgs.cleaning import clean_rows, dropped, escaped, lines, name, one_line

KEY, LINK = {"external_id": escaped(128)}, dropped
STATUS = {"upstream_status": one_line}
# By model: its columns, and what its sort and search keys follow from. Platforms' names are parts of ids, and stay.
CLEANED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Organization": ({"name": name, "plan": one_line}, {}),
    "Platform": ({"version": one_line}, {}),
    "User": ({"name": one_line}, {}),
    "SourceConnection": (
        {"name": name, "account_login": dropped, "base_url": LINK} | KEY,
        {"sort_key": "name"},
    ),
    "Project": (
        {"name": name, "description": lines} | KEY,
        {"sort_key": "name", "search_key": ("name", "description")},
    ),
    "Environment": ({"name": name} | KEY, {"sort_key": "name"}),
    "App": (
        {
            "name": name, "slug": escaped(200), "description": lines, "repository": dropped, "branch": dropped,
            "image": dropped, "primary_url": LINK, "dashboard_url": LINK,
        } | KEY | STATUS,
        {"sort_key": "name", "search_key": ("name", "slug", "description", "repository")},
    ),
    "Preview": (
        {"pull_request_title": one_line, "pull_request_url": LINK, "branch": escaped(255), "url": LINK} | KEY | STATUS,
        {},
    ),
    "Domain": ({"path": escaped(500)} | KEY, {}),
    "Deployment": (
        {
            "title": name, "commit_message": lines, "branch": dropped, "author": one_line, "error_message": lines,
            "dashboard_url": LINK,
        } | KEY | STATUS,
        {},
    ),
    "EdgeFact": ({"tls_issuer": one_line, "error": lines}, {}),
    "OrgSecretName": ({"provider": one_line}, {}),
    "Template": (
        {
            "name": name, "description": lines, "version": one_line, "logo_url": LINK, "github_url": LINK,
            "website_url": LINK, "docs_url": LINK,
        } | KEY,
        {"sort_key": "name", "search_key": ("name", "description", "tags")},
    ),
}  # fmt: skip


def clean(apps: Any, schema_editor: Any) -> None:
    written = 0
    for model, (columns, keys) in CLEANED.items():
        written += clean_rows(apps.get_model("orgs", model), columns, **keys)
    written += clean_instances(apps.get_model("orgs", "RuntimeFact").objects)
    clean_rows(apps.get_model("admin", "LogEntry"), {"object_repr": one_line, "change_message": lines})
    if written:  # clients that keep what they got are to ask again
        apps.get_model("orgs", "DataVersion").objects.update(data_version=F("data_version") + 1)


def clean_instances(facts: Any) -> int:
    written = 0
    for fact in facts.order_by("pk").iterator(chunk_size=1000):
        instances = [_cleaned(instance) for instance in fact.instances]
        if instances != fact.instances:
            written += facts.filter(pk=fact.pk).update(instances=instances)
    return written


def _cleaned(instance: dict[str, Any]) -> dict[str, Any]:
    message = instance.get("message")
    return instance | {"state": name(instance["state"]), "message": message and lines(message)}


class Migration(migrations.Migration):
    dependencies = [("admin", "0003_logentry_add_action_flag_choices"), ("orgs", "0010_fill_places")]

    operations = [migrations.RunPython(clean, migrations.RunPython.noop)]
