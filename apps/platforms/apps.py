"""The platforms application. Its rows are those of apps.orgs."""

from django.apps import AppConfig


class PlatformsConfig(AppConfig):
    name = "apps.platforms"
    label = "platforms"
