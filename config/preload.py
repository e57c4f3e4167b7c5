"""What every worker needs is loaded and made in the process that they are forked from: they share its memory."""

from django.conf import settings
from django.urls import reverse

from apps.web.once import make_apart
from apps.web.tables import migrations


def preload() -> None:
    """All that is behind any path, and what is described once and asked for often. Before the first request."""
    reverse("home")  # loads every module of views: the first request would do it, in each worker

    from apps.sources.git.credential_kinds import detector_patterns, known_kinds
    from apps.tools.mcp.tools import entry_of
    from apps.tools.registry import TOOLS
    from config.openapi import document_of

    entries = ((entry_of, tool) for tool in TOOLS.values())
    make_apart((document_of, settings.PUBLIC_URL), *entries, (migrations,), (detector_patterns,))
    known_kinds()  # compiles them
