"""What happens in the background: pruning."""

from django.utils import timezone
from django_tasks import task

from apps.oauthmcp import pruning


@task
def prune() -> None:
    for _ in pruning.prune(timezone.now()):
        pass
