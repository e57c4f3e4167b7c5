"""What happens in the background: sessions that have ended are deleted."""

from django_tasks import task

from apps.accounts.sessions import SessionStore


@task
def prune() -> None:
    SessionStore.clear_expired()
