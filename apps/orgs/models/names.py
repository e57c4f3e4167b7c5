"""Names of environment variables and secrets. Their values have no column anywhere."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from apps.orgs.models.fields import CodePointField, ProseField, SortKeyField, id_field
from apps.orgs.models.named import Named
from apps.orgs.models.owned import Owned
from apps.orgs.models.placed import NamedPlacedQuerySet, Placed
from apps.orgs.models.projects import App, Environment, Project

# What a name looks like. A value that slipped in where a name belongs seldom does.
NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_.-]{0,127}$"
# A reference to another name, such as project.DATABASE_URL.
REFERENCE_PATTERN = r"^[A-Za-z_][A-Za-z0-9_.-]{0,191}$"


class EnvVarName(Placed, Named, Owned):
    """The name of a variable that an application sees, set on the application, its environment or its project."""

    class Scope(models.TextChoices):
        APP = "app"
        PREVIEW = "preview"
        BUILD = "build"
        ENVIRONMENT = "environment"
        PROJECT = "project"

    id = id_field("var")
    project = models.ForeignKey(Project, models.CASCADE, null=True, related_name="variables", db_index=False)
    environment = models.ForeignKey(Environment, models.CASCADE, null=True, related_name="variables", db_index=False)
    app = models.ForeignKey(App, models.CASCADE, null=True, related_name="variables", db_index=False)
    name = models.CharField(max_length=128)
    sort_key = SortKeyField(of="name", max_length=128)
    scope = CodePointField(max_length=11, choices=Scope)
    references = models.JSONField(default=list, blank=True, help_text="Names that its value refers to.")
    updated_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(NamedPlacedQuerySet)()  # type: ignore[assignment]

    class Meta:
        verbose_name = "variable name"
        constraints = [
            models.CheckConstraint(condition=Q(name__regex=NAME_PATTERN), name="variable_name_is_a_name"),
            models.CheckConstraint(
                condition=Q(app__isnull=False, environment__isnull=True, project__isnull=True)
                | Q(app__isnull=True, environment__isnull=False, project__isnull=True)
                | Q(app__isnull=True, environment__isnull=True, project__isnull=False),
                name="variable_set_in_one_place",
            ),
        ]
        indexes = [
            models.Index(fields=["organization", "sort_key", "scope", "id"], name="variable_of"),
            models.Index(fields=["organization", "scope", "sort_key", "id"], name="variable_scope_of"),
            models.Index(fields=["within_project", "sort_key", "scope", "id"], name="variable_in_project"),
            models.Index(fields=["within_environment", "sort_key", "scope", "id"], name="variable_in_environment"),
            models.Index(fields=["platform"], name="variable_of_platform"),
            # Each is set in one place, nearly all of them on applications.
            *(
                models.Index(
                    fields=[place, "sort_key", "scope", "id"],
                    condition=Q(**{f"{place}__isnull": False}),
                    name=f"variable_on_{place}",
                )
                for place in ("app", "environment", "project")
            ),
        ]


class OrgSecretName(Named, Owned):
    """The name of a secret that an organization keeps on its platform."""

    class Scope(models.TextChoices):
        ORGANIZATION = "organization"
        PROJECT = "project"
        ENVIRONMENT = "environment"
        VAULT = "vault"

    id = id_field("sec")
    project = models.ForeignKey(Project, models.CASCADE, null=True, blank=True, related_name="secrets")
    environment = models.ForeignKey(Environment, models.CASCADE, null=True, blank=True, related_name="secrets")
    name = models.CharField(max_length=128)
    sort_key = SortKeyField(of="name", max_length=128)
    scope = CodePointField(max_length=12, choices=Scope)
    provider = ProseField(max_length=50, null=True, blank=True)
    updated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "secret name"
        constraints = [models.CheckConstraint(condition=Q(name__regex=NAME_PATTERN), name="secret_name_is_a_name")]
        indexes = [
            models.Index(fields=["organization", "sort_key", "scope", "id"], name="secret_by_name"),
            models.Index(fields=["platform"], name="secret_of_platform"),
        ]
