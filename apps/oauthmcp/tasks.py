"""What happens in the background: pruning, and mails before tokens for scripts end."""

from django.utils import timezone
from django_tasks import task

from apps.oauthmcp import pruning
from apps.oauthmcp.script_tokens import mails


@task
def prune() -> None:
    for _ in pruning.prune(timezone.now()):
        pass


@task
def remind() -> None:
    mails.remind()
