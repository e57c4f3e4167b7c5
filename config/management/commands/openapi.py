"""manage.py openapi: the published contract as a file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.web.openapi import ContractError
from config import openapi

SERVER = "http://localhost:8000"


class Command(BaseCommand):
    help = "Writes openapi.json as an installation at http://localhost:8000 would serve it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--check", action="store_true", help="change nothing; fail where the file differs")

    def handle(self, *args: Any, file: Path, check: bool, **options: Any) -> None:
        try:
            content = openapi.render(SERVER)
        except ContractError as error:
            raise CommandError(str(error)) from None
        if not check:
            file.write_bytes(content)
        elif not file.exists() or file.read_bytes() != content:
            raise CommandError(f"{file} is not what the code publishes: run `make openapi` and look at the change.")
