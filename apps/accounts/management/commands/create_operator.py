"""Makes an operator: somebody who signs in to the admin and sees every organization."""

import os
import sys
from getpass import getpass
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.accounts.management.people import free_address, make_operator, operators_next_step
from apps.web.management.database_command import DatabaseCommand

VARIABLE = "PORTHOLE_OPERATOR_PASSWORD"


class Command(DatabaseCommand):
    help = (
        "Makes an operator, who signs in to the admin and may do everything there. The password is asked for; without "
        f"a terminal it is {VARIABLE}, or the first line of standard input."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *, email: str, **options: Any) -> None:
        email = free_address(email)
        operator = make_operator(email, read_password())
        self.stdout.write(f"Made operator {operator.email}.")
        self.stdout.write(operators_next_step(operator))


def read_password() -> str:
    """As an operator gives it. Raises CommandError."""
    if given := os.environ.get(VARIABLE):
        return given
    if sys.stdin.isatty():
        given = getpass("Password: ")
        if getpass("Once more: ") != given:
            raise CommandError("The two passwords differ.")
    else:
        given = sys.stdin.readline().rstrip("\r\n")
    if not given:
        raise CommandError(f"A password is needed: at the prompt, in {VARIABLE} or on standard input.")
    return given
