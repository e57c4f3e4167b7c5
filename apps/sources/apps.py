"""The sources application. Its rows are those of apps.orgs."""

from django.apps import AppConfig


class SourcesConfig(AppConfig):
    name = "apps.sources"
    label = "sources"

    def ready(self) -> None:
        from apps.jobs import scheduling
        from apps.sources.docs import corpus
        from apps.web import probes

        probes.add_note("docs", corpus.condition)
        for name, task in (("docs-index", "refresh_docs"), ("mirrors", "refresh_mirrors")):
            scheduling.every(name, f"apps.sources.tasks.{task}", 30, per_data_dir=True)
