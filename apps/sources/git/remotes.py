"""From a URL that rows name to something that git may be told to fetch."""

from apps.net.outbound import Destination, NotAllowed, https_destination, resolve_allowed
from apps.sources.git.fetch import FetchFailed, Remote
from apps.sources.git.problems import no_repository


def remote_of(url: str) -> Remote:
    """The only way from a URL to something that git is told to fetch: https, at addresses that were checked."""
    try:
        found = resolve_allowed(https_destination(url))
    except NotAllowed as refusal:
        raise FetchFailed(str(refusal)) from None
    return Remote(found.destination.url, found.curl_resolve)


def https_only(url: str) -> Destination:
    """Raises InvalidInput (no_repository)."""
    try:
        return https_destination(url)
    except NotAllowed:
        raise no_repository("This application's repository has no https address that can be read here") from None
