"""Fills a database with synthetic organizations, to see how fast what is."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.installation.synthetic.load import load, vacuum
from apps.installation.synthetic.sizes import Sizes
from apps.oauthmcp.script_tokens.making import Wanted, make
from apps.orgs.callers import SCOPES
from apps.orgs.models import Membership, Organization
from apps.web.management.database_command import DatabaseCommand

DEFAULTS = {"organizations": 100, "apps": 2000, "deployments": 20_000, "tokens": 1000, "largest": 1000}
HELP = {"tokens": "access tokens and refresh tokens together", "largest": "apps of the largest organization"}


class Command(DatabaseCommand):
    help = "Fills an empty database with synthetic organizations: the same ones for the same numbers, seed and moment."

    def add_arguments(self, parser: CommandParser) -> None:
        for name, number in DEFAULTS.items():
            parser.add_argument(f"--{name}", type=int, default=number, help=HELP.get(name, "how many") + f" ({number})")
        parser.add_argument("--seed", type=int, default=1, help="another one makes other rows (1)")
        parser.add_argument("--now", help="from which moment times are counted back, such as 2026-03-01T12:00:00Z")
        parser.add_argument("--outside-local", action="store_true", help="do it although PORTHOLE_ENV is not local")

    def handle(self, *, now: str | None, seed: int, outside_local: bool, **options: Any) -> None:
        if not (settings.IS_LOCAL or outside_local):
            raise CommandError("These rows are made up. If this installation is for trying, add --outside-local.")
        if Organization.objects.exists():
            raise CommandError("There are organizations already: DATABASE_URL has to name an empty, migrated database.")
        try:
            sizes = Sizes(**{name: options[name] for name in DEFAULTS}, seed=seed, now=_moment(now))
        except ValueError as error:
            raise CommandError(str(error)) from None
        with self.watching(options["verbosity"]):
            load(sizes)
            vacuum()
        for what, number in (("the largest", 0), ("a typical", sizes.organizations - 1)):
            organization = Organization.objects.get(slug=f"synthetic-{number}")
            self.stdout.write(f"{organization.slug}, {what} organization: {_token(organization)}")


def _moment(text: str | None) -> datetime:
    moment = timezone.now() if text is None else parse_datetime(text)
    if moment is None or moment.tzinfo is None:
        raise ValueError("--now is a moment with an offset, such as 2026-03-01T12:00:00Z.")
    return moment.replace(microsecond=0)


def _token(organization: Organization) -> str:
    """Of one of its members, for a month."""
    membership = Membership.objects.filter(organization=organization).order_by("pk")[0]
    now = timezone.now()
    wanted = Wanted("synthetic", "Synthetic", membership.pk, list(SCOPES), now + timedelta(days=30), now)
    return make(membership.user, wanted)[1]
