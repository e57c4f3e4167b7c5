"""Disconnects an organization from its platform."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet

from apps.orgs.management.named import organization_named
from apps.orgs.models import App, Platform
from apps.platforms.connecting import disconnect
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Disconnects an organization from Dokploy or Coolify: deletes the key, and hides what was read with it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--org", required=True, metavar="SLUG", help="the organization's slug or its id")
        parser.add_argument("--kind", choices=("dokploy", "coolify"), help="where it has both")
        parser.add_argument("--name", help="where it has several of one kind")
        parser.add_argument("--yes", action="store_true", help="do it; without this it is only told")

    def handle(self, *, org: str, kind: str | None, name: str | None, yes: bool, **options: Any) -> None:
        wanted = {key: value for key, value in (("kind", kind), ("name", name)) if value is not None}
        platforms = Platform.objects.filter(connection__isnull=False, organization=organization_named(org), **wanted)
        platform = _only(platforms.select_related("connection").order_by("pk"))
        if not yes:
            count = App.objects.filter(platform=platform, hidden_at__isnull=True).count()
            raise CommandError(
                f"Nothing was changed. This would delete the key of {platform.connection.organization_name} at "
                f"{platform.connection.base_url}, and hide {count} applications. Add --yes."
            )
        self.stdout.write(disconnect(platform))


def _only(platforms: QuerySet[Platform]) -> Platform:
    found = list(platforms)
    if not found:
        raise CommandError("It is connected to no such platform.")
    if len(found) > 1:
        names = ", ".join(f"--kind {platform.kind} --name {platform.name}" for platform in found)
        raise CommandError(f"It is connected to several. Say which: {names}")
    return found[0]
