"""What the prober does again and again: a round every minute, upkeep every hour."""

from django.utils import timezone
from django_tasks import task

from apps.platforms.edge.rounds import probe_round
from apps.platforms.edge.upkeep import tidy


@task()
def probe_domains() -> None:
    """Checks every domain once. Due every apps.orgs.models.facts.PROBE_PERIOD seconds."""
    probe_round(timezone.now())


@task()
def tidy_checks() -> None:
    """Thins the history of checks. Due every hour."""
    tidy(timezone.now())
