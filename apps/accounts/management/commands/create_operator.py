"""Makes an operator: somebody who signs in to the admin and sees every organization."""

import os
import sys
from getpass import getpass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.orgs.management.named import address
from apps.orgs.models import User

VARIABLE = "PORTHOLE_OPERATOR_PASSWORD"


class Command(BaseCommand):
    help = (
        "Makes an operator, who signs in to the admin and may do everything there. The password is asked for; without "
        f"a terminal it is {VARIABLE}, or the first line of standard input."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *, email: str, **options: Any) -> None:
        email = address(email)
        if User.objects.filter(email=email).exists():
            raise CommandError(f"There is already a user {email}. An operator can make it one too, in the admin.")
        password = _password()
        try:
            validate_password(password, User(email=email))
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        User.objects.create_superuser(email, password)
        self.stdout.write(f"Made operator {email}.")


def _password() -> str:
    if given := os.environ.get(VARIABLE):
        return given
    if sys.stdin.isatty():
        password = getpass("Password: ")
        if getpass("Once more: ") != password:
            raise CommandError("The two passwords differ.")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise CommandError(f"A password is needed: at the prompt, in {VARIABLE} or on standard input.")
    return password
