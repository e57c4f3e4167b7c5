"""The orgs application: organizations and everything that belongs to one."""

from django.apps import AppConfig


class OrgsConfig(AppConfig):
    name = "apps.orgs"
    label = "orgs"
    verbose_name = "Organizations"
    default_auto_field = "django.db.models.BigAutoField"
