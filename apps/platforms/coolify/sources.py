"""What applications are built from, and the accounts at git hosts that Coolify builds with."""

import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from apps.orgs.models import App, SourceConnection
from apps.orgs.repositories import GIT_HOSTS
from apps.platforms.coolify.fields import Row, cut, flag, identifier, number, text
from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import REPOSITORY

# Coolify's own repository stands where there is none: the Dockerfile was typed in.
PLACEHOLDER = "coollabsio/coolify"
DIGEST = "@sha256"
SSH = re.compile(r"(?:ssh://)?[^@/\s]+@(?P<host>[^:/\s]+)(?::\d+(?=/))?[:/](?P<path>\S+)")
# What `source_type` says of an application.
GITHUB, GITLAB = "App\\Models\\GithubApp", "App\\Models\\GitlabApp"
TYPES = {GITHUB: "github", GITLAB: "gitlab"}
PUBLIC_HOSTS = {address.removeprefix("https://"): type for type, address in GIT_HOSTS.items()}

# The key of each connection, by what applications name: the ids of both types overlap, and 0 is one.
Connections = dict[tuple[str, int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    type: str
    repository: str | None = None
    branch: str | None = None
    image: str | None = None
    connection: str | None = None


def source_of(row: Row, connections: Connections) -> Source:
    if text(row, "build_pack") == "dockerimage":
        return Source(type=App.SourceType.DOCKER, image=_image(row))
    repository = text(row, "git_repository") or ""
    if text(row, "build_pack") == "dockerfile" and _without_suffix(repository) == PLACEHOLDER:
        return Source(type=App.SourceType.UPLOAD)
    account, number_of_account = TYPES.get(text(row, "source_type") or ""), number(row, "source_id")
    source = _named(account, repository) if account else _located(repository)
    connection = None
    if account is not None and number_of_account is not None:
        connection = connections.get((account, number_of_account))
    return replace(source, branch=cut(base.App, "branch", text(row, "git_branch")), connection=connection)


def _image(row: Row) -> str | None:
    name, tag = text(row, "docker_registry_image_name"), text(row, "docker_registry_image_tag")
    if name is None:
        return None
    if name.endswith(DIGEST):
        return cut(base.App, "image", f"{name}:{tag.removeprefix('sha256-').removeprefix('sha256:')}" if tag else None)
    return cut(base.App, "image", f"{name}:{tag}" if tag else name)


def _named(type: str, repository: str) -> Source:
    """`owner/repo` at an account. Some have the whole address, which then tells more."""
    if "://" in repository or "@" in repository:
        located = _located(repository)
        return located if located.type != App.SourceType.GIT else Source(type=type, repository=_path(repository))
    return Source(type=type, repository=_kept(repository))


def _located(address: str) -> Source:
    """A repository by its address. Where only ssh is told, of a host unknown here, there is no web address to give."""
    if PUBLIC_HOSTS.get(host := _host(address)):
        return Source(type=PUBLIC_HOSTS[host], repository=_path(address))
    return Source(type=App.SourceType.GIT, repository=_web_address(address))


def _host(address: str) -> str:
    if address.startswith(("https://", "http://")):
        try:
            return (urlsplit(address).hostname or "").removeprefix("www.")
        except ValueError:
            return ""
    found = SSH.fullmatch(address)
    return found["host"].lower() if found else ""


def _path(address: str) -> str | None:
    """owner/repo, of a web address or of one for ssh."""
    if address.startswith(("https://", "http://")):
        return _kept(urlsplit(address).path)
    found = SSH.fullmatch(address)
    return _kept(found["path"]) if found else None


def _web_address(address: str) -> str | None:
    """Without a user name, token, query or fragment."""
    if not address.startswith("https://"):
        return None
    try:
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return None
    kept = cut(base.App, "repository", f"https://{host}{parts.path}")
    return None if kept is None or re.search(r"\s", kept) or not parts.hostname else kept


def _kept(path: str) -> str | None:
    path = _without_suffix(path.strip("/"))
    return cut(base.App, "repository", path) if REPOSITORY.fullmatch(path) else None


def _without_suffix(path: str) -> str:
    return path.removesuffix(".git")


def connection_of(row: Row, type: str) -> base.Connection | None:
    key = identifier(row)
    if key is None:
        return None
    return base.Connection(
        key=key,
        type=type,
        name=cut(base.Connection, "name", text(row, "name")) or key[:100],
        account_login=cut(base.Connection, "account_login", text(row, "organization")),
        base_url=_base_url(row, type),
        credentials=_credentials(row, type),
    )


def _base_url(row: Row, type: str) -> str | None:
    """Of a host of one's own only."""
    address = (text(row, "html_url") or "").rstrip("/")
    return None if address == GIT_HOSTS[type] else cut(base.Connection, "base_url", address or None)


def _credentials(row: Row, type: str) -> str:
    """GitLab's are hidden: its token has an end only once there is one."""
    credentials = SourceConnection.Credentials
    if flag(row, "is_public"):
        return credentials.NOT_NEEDED
    if type == "gitlab":
        return credentials.WORKING if row.get("expires_at") is not None else credentials.MISSING
    has_both = number(row, "app_id") is not None and number(row, "installation_id") is not None
    return credentials.WORKING if has_both else credentials.MISSING
