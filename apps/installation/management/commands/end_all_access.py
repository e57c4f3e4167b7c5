"""Signs everybody out and ends every app's access: after a leak, or after a backup was restored."""

from typing import Any

from django.contrib.sessions.models import Session
from django.db import transaction

from apps.oauthmcp.models import Authorization, Grant
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Signs everybody out, and ends the access of all apps and scripts. People sign in and let apps in again."

    def handle(self, **options: Any) -> None:
        with transaction.atomic():
            sessions, _ = Session.objects.all().delete()
            Grant.objects.all().delete()
            authorizations = Authorization.objects.filter(revoked_at=None).revoke()
        self.stdout.write(f"Sessions ended: {sessions}. Access of apps and scripts ended: {authorizations}.")
