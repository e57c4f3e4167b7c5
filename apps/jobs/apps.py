"""The jobs application."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "apps.jobs"
    label = "jobs"
    verbose_name = "Background work"

    def ready(self) -> None:
        from apps.jobs import scheduling

        scheduling.every("prune:tasks", "apps.jobs.tasks.prune", scheduling.DAY)
