"""The platforms application."""

from django.apps import AppConfig


class PlatformsConfig(AppConfig):
    name = "apps.platforms"
    label = "platforms"

    def ready(self) -> None:
        from apps.jobs.scheduling import DAY, HOUR, every
        from apps.orgs.models.facts import PROBE_PERIOD

        every("probe", "apps.platforms.edge.tasks.probe_domains", PROBE_PERIOD)
        every("probe:tidy", "apps.platforms.edge.tasks.tidy_checks", HOUR)
        every("prune:hidden", "apps.platforms.snapshot.purge.purge_hidden_applications", DAY)
