"""The server's own application, which fetches from where REMOTES says instead of from the network."""

import json
import os

from apps.sources.git import mirrors
from apps.sources.git.fetch import FetchFailed, Remote
from config.wsgi import application

REMOTES = json.loads(os.environ["REMOTES"])


def remote_of(url: str) -> Remote:
    if url not in REMOTES:
        raise FetchFailed("There is no such repository.")
    return Remote(REMOTES[url], None, REMOTES[url].partition(":")[0])


mirrors.remote_of = remote_of

__all__ = ["application"]
