"""The types of git hosts that there are, by the name that rows have for them."""

from apps.orgs.repositories import GIT_HOSTS
from apps.sources.hosts.bitbucket import Bitbucket
from apps.sources.hosts.credentials import Credentials
from apps.sources.hosts.git import Git
from apps.sources.hosts.gitea import Gitea
from apps.sources.hosts.github import GitHub
from apps.sources.hosts.gitlab import GitLab
from apps.sources.hosts.host import GitHost, HostError

HOSTS: dict[str, type[GitHost]] = {
    "github": GitHub,
    "gitlab": GitLab,
    "bitbucket": Bitbucket,
    "gitea": Gitea,
    "git": Git,
}


def host_of(type: str, base_url: str | None, credentials: Credentials | None) -> GitHost:
    """Without `base_url` the public one of its type, which git has none of. Raises HostError."""
    if type not in HOSTS:
        raise HostError("There is no such type of git host.")
    address = base_url or GIT_HOSTS.get(type)
    if address is None:
        raise HostError("Where the git host answers must be given.")
    return HOSTS[type](address, credentials)


def kinds_of(type: str) -> tuple[str, ...]:
    """Which kinds of credentials a type takes; none for what is no type."""
    return HOSTS[type].kinds if type in HOSTS else ()
