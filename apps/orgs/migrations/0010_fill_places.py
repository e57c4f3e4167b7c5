"""What belongs to applications gets their project and environment. A migration of its own: PostgreSQL changes no table
whose rows it has just changed."""

from typing import Any

from django.db import migrations
from django.db.models import F, OuterRef, Subquery


def fill(apps: Any, schema_editor: Any) -> None:
    app = apps.get_model("orgs", "App").objects.filter(pk=OuterRef("app_id"))
    environment = apps.get_model("orgs", "Environment").objects.filter(pk=OuterRef("environment_id"))
    by_app = {f"within_{name}": Subquery(app.values(f"{name}_id")[:1]) for name in ("project", "environment")}
    for name in ("Deployment", "Domain", "EnvVarName", "Preview"):
        apps.get_model("orgs", name).objects.filter(app__isnull=False).update(**by_app)
    names = apps.get_model("orgs", "EnvVarName").objects
    names.filter(project__isnull=False).update(within_project=F("project"))
    names.filter(environment__isnull=False).update(
        within_project=Subquery(environment.values("project_id")[:1]), within_environment=F("environment")
    )


class Migration(migrations.Migration):
    dependencies = [("orgs", "0009_places_and_health")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
