"""Removes somebody's authenticator app and recovery codes, when they have lost both."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import CommandError, CommandParser

from apps.orgs.management.named import address
from apps.orgs.models import User
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Removes somebody's second factor. Make sure first that it is really they who ask for it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *, email: str, **options: Any) -> None:
        email = address(email)
        user = User.objects.filter(email=email).first()
        if user is None:
            raise CommandError(f"There is no user {email}.")
        removed, _ = Authenticator.objects.filter(user=user).delete()
        if not removed:
            raise CommandError(f"{email} has no second factor.")
        self.stdout.write(f"{email} signs in with the password alone now.")
