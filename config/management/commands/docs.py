"""manage.py docs: what the documentation says of tools, from the tools."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.tools.pages import pages
from apps.web.openapi import ContractError


class Command(BaseCommand):
    help = "Writes what README.md and docs/ say of tools; what is written by hand stays."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("root", type=Path, nargs="?", default=settings.BASE_DIR, help="has README.md and docs/")
        parser.add_argument("--check", action="store_true", help="change nothing; fail where a page differs")

    def handle(self, *args: Any, root: Path, check: bool, **options: Any) -> None:
        try:
            wanted = pages(root)
        except ContractError as error:
            raise CommandError(str(error)) from None
        changed = [file for file, text in wanted.items() if not file.exists() or file.read_text("utf-8") != text]
        if check and changed:
            names = ", ".join(sorted(str(file.relative_to(root)) for file in changed))
            raise CommandError(f"Not what the tools say: {names}. Run `make docs` and look at the change.")
        for file in changed:
            file.write_text(wanted[file], encoding="utf-8")
