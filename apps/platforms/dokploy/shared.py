"""What belongs to no single application: names of variables and secrets, and templates."""

from collections.abc import Collection, Iterator
from urllib.parse import quote

from apps.platforms.dokploy import fields
from apps.platforms.dokploy.api import Api
from apps.platforms.dokploy.fields import Row, cut
from apps.platforms.dokploy.listing import Listing
from apps.platforms.names import VariableName
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import TAG, Name

MAX_TAGS = 20
CATALOGUE = "https://templates.dokploy.com"


def variables_of(listing: Listing) -> tuple[base.Variable, ...]:
    """Of environments and projects."""
    projects = (
        base.Variable(name=told.name, scope="project", project=key, references=told.references)
        for key, told in _project_names(listing)
    )
    environments = (
        base.Variable(name=told.name, scope="environment", environment=key, references=told.references)
        for key, told in _environment_names(listing)
    )
    return (*projects, *environments)


def secrets_of(listing: Listing) -> tuple[base.Secret, ...]:
    """The same names: Dokploy keeps secrets of projects and environments as their variables."""
    projects = (base.Secret(name=told.name, scope="project", project=key) for key, told in _project_names(listing))
    environments = (
        base.Secret(name=told.name, scope="environment", environment=key) for key, told in _environment_names(listing)
    )
    return (*projects, *environments)


def vault_secrets(api: Api, projects: Collection[str]) -> tuple[base.Secret, ...]:
    """Names in the vaults that some project of ours may use. Raises Refused, UpstreamError."""
    found: dict[str, base.Secret] = {}
    for vault in api.rows("vaultProvider.all"):  # its `config` holds credentials, and is not looked at
        key, query = fields.key(vault, "vaultProviderId"), _assignment(vault, projects)
        if key is None or query is None:
            continue
        names = api.value("vaultProvider.listSecretNames", {"vaultProviderId": key, **query})
        provider = cut(base.Secret, "provider", fields.text(vault, "providerType"))
        for name in names if isinstance(names, list) else ():
            if not Name().problem(name):
                found.setdefault(name, base.Secret(name=name, scope="vault", provider=provider))
    return tuple(found.values())


def _assignment(vault: Row, projects: Collection[str]) -> dict[str, str] | None:
    """A project, and where it is narrowed an environment, for which Dokploy lets one ask."""
    for assignment in fields.rows(vault, "assignments"):
        project, environments = fields.key(assignment, "projectId"), assignment.get("environmentIds")
        if project in projects and project is not None:
            narrowed = environments[0] if isinstance(environments, list) and environments else None
            return {"projectId": project} | ({"environmentId": narrowed} if isinstance(narrowed, str) else {})
    return None


def template_of(row: Row) -> base.Template | None:
    key = fields.key(row, "id")
    name = cut(base.Template, "name", fields.text(row, "name"))
    if key is None or name is None:
        return None
    links = fields.row(row, "links")
    return base.Template(
        key=key,
        name=name,
        description=cut(base.Template, "description", fields.text(row, "description")) or name,
        version=cut(base.Template, "version", fields.text(row, "version")),
        tags=_tags(row),
        logo_url=_logo(key, fields.text(row, "logo")),
        github_url=fields.url(fields.text(links, "github")),
        website_url=fields.url(fields.text(links, "website")),
        docs_url=fields.url(fields.text(links, "docs")),
    )


def _logo(key: str, file: str | None) -> str | None:
    """Where Dokploy's own pages load it from."""
    return fields.url(f"{CATALOGUE}/blueprints/{quote(key, safe='')}/{quote(file, safe='')}") if file else None


def _tags(row: Row) -> tuple[str, ...]:
    tags = row.get("tags") if isinstance(row.get("tags"), list) else None
    words = (tag.strip().lower().replace(" ", "-") for tag in tags or () if isinstance(tag, str))
    return tuple(dict.fromkeys(word for word in words if TAG.fullmatch(word)))[:MAX_TAGS]


def _project_names(listing: Listing) -> Iterator[tuple[str, VariableName]]:
    for key, names in listing.project_names.items():
        yield from ((key, told) for told in (names.names if names else ()))


def _environment_names(listing: Listing) -> Iterator[tuple[str, VariableName]]:
    for key, names in listing.environment_names.items():
        yield from ((key, told) for told in (names.names if names else ()))
