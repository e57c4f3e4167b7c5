"""Where an application comes from, and the accounts at git hosts that Dokploy knows."""

from typing import TypedDict
from urllib.parse import urlsplit, urlunsplit

from apps.orgs.repositories import GIT_HOSTS
from apps.platforms.dokploy import fields
from apps.platforms.dokploy.fields import Row, cut
from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import REPOSITORY

# What tells that an account works, where Dokploy itself does not say so yet. Only whether they are there is looked at.
CREDENTIALS = {
    "github": ("githubPrivateKey", "githubInstallationId"),
    "gitlab": ("accessToken", "refreshToken"),
    "gitea": ("accessToken", "refreshToken"),
}


class Source(TypedDict):
    source_type: str
    repository: str | None
    branch: str | None
    image: str | None
    connection: str | None


def source_of(row: Row, connections: dict[tuple[str, str], str]) -> Source:
    """By `sourceType` alone: what an earlier source left in other columns stays there.

    `connections`: the key of a connection, by type and Dokploy's id of the account.
    """
    type = fields.text(row, "sourceType")
    if type in GIT_HOSTS:
        repository, branch = _repository(row, type), fields.text(row, "branch" if type == "github" else f"{type}Branch")
        account = fields.key(row, f"{type}Id")
        return _source(type, repository, branch, connection=connections.get((type, account or "")))
    if type == "git":
        return _source("git", _address(fields.text(row, "customGitUrl")), fields.text(row, "customGitBranch"))
    if type == "docker":
        return _source("docker", image=cut(base.App, "image", fields.text(row, "dockerImage")))
    return _source("upload")  # drop, and a compose file that was typed in (raw)


def _source(
    type: str,
    repository: str | None = None,
    branch: str | None = None,
    *,
    image: str | None = None,
    connection: str | None = None,
) -> Source:
    return {
        "source_type": type,
        "repository": repository,
        "branch": cut(base.App, "branch", branch),
        "image": image,
        "connection": connection,
    }


def _repository(row: Row, type: str) -> str | None:
    prefix = "" if type == "github" else type
    owner = fields.text(row, f"{prefix}Owner" if prefix else "owner")
    name = fields.text(row, f"{prefix}Repository" if prefix else "repository")
    if type == "bitbucket":  # its addresses have the slug, which may differ from the name
        name = fields.text(row, "bitbucketRepositorySlug") or name
    path = f"{owner}/{name}" if owner and name else None
    if type == "gitlab":  # groups in groups
        full = fields.text(row, "gitlabPathNamespace")
        path = full if full and name and full.lower().endswith(f"/{name.lower()}") else path
    return path if path and len(path) <= 500 and REPOSITORY.fullmatch(path) else None


def _address(url: str | None) -> str | None:
    """An https address without the user, the token and the query that may be in it; None where it is another kind."""
    try:
        parts = urlsplit(url or "")
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return None
    if parts.scheme != "https" or not host:
        return None
    return cut(base.App, "repository", fields.url(urlunsplit(("https", host, parts.path, "", ""))))


def connection_of(row: Row) -> tuple[base.Connection, str | None] | None:
    """A connection, and Dokploy's id of the account in it, by which applications name it."""
    key, type = fields.key(row, "gitProviderId"), fields.text(row, "providerType")
    if key is None or type not in GIT_HOSTS:
        return None
    account = fields.row(row, type)
    connection = base.Connection(
        key=key,
        type=type,
        name=cut(base.Connection, "name", fields.text(row, "name")) or type,
        account_login=cut(base.Connection, "account_login", fields.text(account, "bitbucketUsername")),
        base_url=fields.url(fields.text(account, f"{type}Url")),
        credentials="working" if _works(account, type) else "missing",
    )
    return connection, fields.key(account, f"{type}Id")


def _works(account: Row, type: str) -> bool:
    if type == "bitbucket":
        return bool(account)  # of these Dokploy always says that they are not set up
    if "isConfigured" in account:
        return account["isConfigured"] is True
    return all(bool(account.get(name)) for name in CREDENTIALS[type])
