"""What connect_dokploy and connect_coolify have in common."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.orgs.management.named import organization_named
from apps.platforms.connecting import MAX_KEY, Kind, NotConnected, Wanted, store, try_key, warnings_of
from apps.platforms.connector import STATE_PERIOD, Identity, UpstreamError
from apps.platforms.models import PlatformConnection
from apps.platforms.snapshot.hiding import TooManyDeletions
from apps.platforms.sync.run import Outcome, sentence_of, sync_platform
from apps.platforms.tasks import put_off, schedule_sync
from apps.web.management.database_command import DatabaseCommand
from apps.web.management.secret_file import secret_in

LEFT = "The key is stored, and workers sync with it; manage.py disconnect_platform deletes it."
FIRST_SYNC = 3600.0  # seconds for which workers leave it to this command


class ConnectCommand(DatabaseCommand):
    """Checks a key, stores it encrypted, and syncs for the first time. The key comes from a file, never from argv."""

    kind: Kind
    when_stopped = "Nothing was stored."
    key_option: str
    key_help: str

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--org", required=True, metavar="SLUG", help="the organization's slug or its id")
        parser.add_argument("--url", required=True, help="the platform's address, such as https://deploy.example.com")
        parser.add_argument(self.key_option, required=True, metavar="FILE", dest="key_file", help=self.key_help)
        parser.add_argument("--name", default="default", help="where an organization has several of one kind")

    def handle(self, *, org: str, url: str, key_file: str, name: str, **options: Any) -> None:
        self.connect(Wanted(
            organization=organization_named(org), kind=self.kind, base_url=url, name=name,
            key=secret_in(key_file, MAX_KEY), reads_previews=bool(options.get("previews")),
        ), options["verbosity"])  # fmt: skip

    def connect(self, wanted: Wanted, verbosity: int) -> None:
        """Raises CommandError."""
        try:
            identity = try_key(wanted)
            self._tell(wanted, identity)
            connection = store(wanted, identity)
        except (NotConnected, UpstreamError) as error:
            raise CommandError(f"Nothing was stored. {error}") from None
        self.stdout.write("The key is stored, encrypted. Reading everything for the first time ...")
        self._sync(connection, verbosity)

    def _tell(self, wanted: Wanted, identity: Identity) -> None:
        role = f", as {identity.role}" if identity.role else ""
        name = self.kind.title()
        self.stdout.write(f"{name} {identity.version}: the key is for {identity.organization_name}{role}.")
        for warning in warnings_of(wanted, identity):
            self.stderr.write(f"Warning: {warning}")

    def _sync(self, connection: PlatformConnection, verbosity: int) -> None:
        period, self.when_stopped = STATE_PERIOD, LEFT
        put_off(connection.pk, FIRST_SYNC)
        try:
            with self.watching(verbosity):
                outcome = sync_platform(connection.pk)
            period = outcome.period
        except (UpstreamError, TooManyDeletions) as error:
            raise CommandError(f"Nothing was read: {sentence_of(error)} A worker will try again.") from None
        finally:
            schedule_sync(connection.pk, period)
            put_off(connection.pk, period)
        for line in lines_of(outcome):
            self.stdout.write(line)


def lines_of(outcome: Outcome) -> list[str]:
    """What a sync brought, for people."""
    lines = [f"{outcome.read} of {outcome.apps} applications read, with {outcome.calls} calls: {outcome.changes}."]
    if outcome.problem:
        lines.append(outcome.problem)
    if outcome.left_out:
        kinds = ", ".join(f"{count} {name}" for name, count in sorted(outcome.left_out.items()))
        lines.append(f"Left out, because they cannot be kept: {kinds}.")
    return [*lines, f"From now on a worker (manage.py worker) syncs it every {outcome.period} seconds."]
