"""The sources application. Its rows are those of apps.orgs."""

from django.apps import AppConfig


class SourcesConfig(AppConfig):
    name = "apps.sources"
    label = "sources"

    def ready(self) -> None:
        from apps.sources.docs import corpus
        from apps.web import probes

        probes.add_note("docs", corpus.condition)
