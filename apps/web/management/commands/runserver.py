"""manage.py runserver: Django's own, but in local only on this machine's own addresses, as gunicorn.conf.py has it."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands.runserver import Command as RunserverCommand

from apps.net.addresses import is_loopback


class Command(RunserverCommand):
    def inner_run(self, *args: Any, **options: Any) -> None:
        if settings.IS_LOCAL and not is_loopback(self.addr):  # type: ignore[attr-defined]
            raise CommandError("PORTHOLE_ENV is local, so it may only be bound to a loopback address.")
        super().inner_run(*args, **options)
