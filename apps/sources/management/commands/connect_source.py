"""Connects an organization to a git host, so that files of private repositories can be read."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.orgs.management.named import organization_named
from apps.orgs.models import Organization, SourceConnection
from apps.sources.connecting import NotConnected, Tried, Wanted, lines_of, store, try_credentials, warnings_of
from apps.sources.hosts.credentials import MAX_SECRET, Credentials
from apps.web.management.database_command import DatabaseCommand
from apps.web.management.secret_file import secret_in


class Command(DatabaseCommand):
    help = (
        "Connects an organization to a git host (docs/git-hosts.md): tries the credentials, stores them encrypted, "
        "and says what they can read. The secret comes from a file, never from the command line."
    )
    when_stopped = "Nothing was stored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--org", required=True, metavar="SLUG", help="the organization's slug or its id")
        parser.add_argument("--type", choices=SourceConnection.Type.values, help="what kind of git host it is")
        parser.add_argument("--url", help="where a git host of your own answers, such as https://git.example.com")
        parser.add_argument("--name", default="", help="what the connection is called; otherwise its account")
        parser.add_argument("--connection", metavar="ID", help="one that is there (con_…): it gets these credentials")
        parser.add_argument("--default", action="store_true", help="makes it the organization's default connection")
        secret = parser.add_mutually_exclusive_group(required=True)
        secret.add_argument("--token-file", metavar="FILE", help="a file with an access token, or - for standard input")
        secret.add_argument("--deploy-token-file", metavar="FILE", help="a file with a deploy token; needs --username")
        secret.add_argument(
            "--private-key-file",
            metavar="FILE",
            help="a GitHub App's key; needs --app-id and --installation-id",
        )
        parser.add_argument("--username", help="of a deploy token, or where a token alone does not do")
        parser.add_argument("--app-id", help="of a GitHub App: its id or its client id")
        parser.add_argument("--installation-id", help="of a GitHub App: the number at the end of its settings' address")

    def handle(self, *, org: str, default: bool, name: str, **options: Any) -> None:
        organization = organization_named(org)
        connection = _connection(organization, options["connection"])
        try:
            wanted = Wanted(
                organization=organization, type=_type(options["type"], connection), name=name, is_default=default,
                base_url=options["url"] or (connection.base_url if connection else None), connection=connection,
                credentials=_credentials(options),
            )  # fmt: skip
            tried = try_credentials(wanted)
            stored = store(wanted, tried)
        except NotConnected as error:
            raise CommandError(f"Nothing was stored. {error}") from None
        self._tell(stored, tried)

    def _tell(self, connection: SourceConnection, tried: Tried) -> None:
        login = f" as {tried.account.login}" if tried.account.login else ""
        self.stdout.write(f"Connected to {tried.host.base_url}{login}: {connection.id}.")
        self.stdout.write("The secret is stored, encrypted.")
        for line in lines_of(tried):
            self.stdout.write(line)
        for warning in warnings_of(tried):
            self.stderr.write(f"Warning: {warning}")


def _connection(organization: Organization, id: str | None) -> SourceConnection | None:
    if id is None:
        return None
    connection = SourceConnection.objects.filter(organization=organization, pk=id).first()
    if connection is None:
        raise CommandError("This organization has no such connection: the admin and get_account tell their ids.")
    return connection


def _type(type: str | None, connection: SourceConnection | None) -> str:
    if connection and type not in (None, connection.type):
        raise CommandError(f"The connection is of type {connection.type}.")
    if connection is None and type is None:
        raise CommandError("--type must say what kind of git host it is.")
    return connection.type if connection else str(type)


def _credentials(options: dict[str, Any]) -> Credentials:
    """Raises CommandError, NotConnected."""
    if options["private_key_file"]:
        kind, file = "github_app", options["private_key_file"]
    elif options["deploy_token_file"]:
        kind, file = "deploy_token", options["deploy_token_file"]
    else:
        kind, file = "basic" if options["username"] else "access_token", options["token_file"]
    return Credentials(
        kind=kind, secret=secret_in(file, MAX_SECRET).strip(), username=options["username"],
        app_id=options["app_id"], installation_id=options["installation_id"],
    )  # fmt: skip
