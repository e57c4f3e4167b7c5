"""Makes an organization."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from apps.orgs.models import Organization
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Makes an organization, and prints its id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="lowercase letters, digits and hyphens; what the other commands call it")
        parser.add_argument("--name", required=True, help="what people call it")
        parser.add_argument("--plan", help="a word for its plan, for people")

    def handle(self, *, slug: str, name: str, plan: str | None, **options: Any) -> None:
        if Organization.objects.filter(slug=slug).exists():
            raise CommandError(f"There is already an organization {slug}.")
        organization = Organization(slug=slug, name=name, plan=plan or None)
        try:
            organization.full_clean()
        except ValidationError as error:
            problems = (f"{field}: {' '.join(sentences)}" for field, sentences in error.message_dict.items())
            raise CommandError("\n".join(problems)) from None
        organization.save()
        self.stdout.write(f"Made {slug}: {organization.pk}")
