"""Where an application's repository lies: the git hosts that are known by name, and the address to fetch from."""

GIT_HOSTS = {
    "github": "https://github.com",
    "gitlab": "https://gitlab.com",
    "bitbucket": "https://bitbucket.org",
    "gitea": "https://gitea.com",
}
# This installation's own checkout; only a local installation reads it.
LOCAL_CHECKOUT = "local:checkout"


def clone_url(source_type: str, repository: str | None, base_url: str | None) -> str | None:
    """The address to fetch from: `repository` is owner/name at a git host, or an address where the type is git."""
    if not repository or source_type not in (*GIT_HOSTS, "git"):
        return None
    if source_type == "git":
        return repository if repository.startswith("https://") or repository == LOCAL_CHECKOUT else None
    return f"{(base_url or GIT_HOSTS[source_type]).rstrip('/')}/{repository}.git"
