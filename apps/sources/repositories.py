"""From an application to the repository that it is built from."""

from apps.orgs.app_scope import AppScope
from apps.sources.git.problems import no_repository
from apps.sources.git.repository import Repository, open_repository
from apps.sources.git.values import Location


def repository_of(app: AppScope, ref: str | None, commit: str | None = None) -> Repository:
    """The application's repository at `ref`, or at exactly `commit`. Raises InvalidInput and Unavailable."""
    found = app.repository()
    if found is None:
        raise no_repository("This application has no repository that can be read here")
    return open_repository(Location(found.url, found.branch, found.owner), ref, pinned_commit=commit)
