"""The sources application. Its rows are those of apps.orgs."""

from django.apps import AppConfig


class SourcesConfig(AppConfig):
    name = "apps.sources"
    label = "sources"
