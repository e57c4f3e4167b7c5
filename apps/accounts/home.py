"""The first page: what this is and how to connect; for those who are signed in, their organizations at a glance."""

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.timesince import timesince
from django.views.decorators.cache import never_cache

from apps.orgs.clock import count_by_health
from apps.orgs.models import Membership, Platform, User
from apps.orgs.overview import platforms_of
from apps.tools.registry import TOOLS

LEVELS = ("down", "degraded", "deploying", "unknown", "healthy")  # what needs somebody first


@dataclass(frozen=True, slots=True)
class Glance:
    """An organization of one's own: its applications by health, and how old what is known of them is."""

    membership: Membership
    counts: dict[str, int]
    platform: dict[str, Any]

    @property
    def number(self) -> int:
        return sum(self.counts.values())

    @property
    def levels(self) -> list[tuple[str, int]]:
        """Those that there are."""
        return [(level, self.counts[level]) for level in LEVELS if self.counts[level]]

    @property
    def synced(self) -> str:
        at = self.platform["last_sync_at"]
        ago = "" if at is None else "just now" if (timezone.now() - at).total_seconds() < 60 else _ago(at)
        if self.platform["last_sync_status"] == Platform.SyncStatus.ERROR:
            return f"The last sync failed; what is known is from {ago}." if ago else "The last sync failed."
        if not ago:
            return "Nothing was synced yet."
        return f"Synced {ago}: that is too old to rely on." if self.platform["is_stale"] else f"Synced {ago}."

    @property
    def is_worrying(self) -> bool:
        return bool(self.platform["is_stale"] or self.platform["last_sync_status"] == Platform.SyncStatus.ERROR)


def _ago(at: Any) -> str:
    return f"{timesince(at, depth=1)} ago"


@never_cache  # a shared browser must not keep what one of its users saw
def home(request: HttpRequest) -> HttpResponse:
    # Not the Host's: clients compare the address that they were given with the one in the metadata (RFC 9728 §3.3).
    address = f"{settings.PUBLIC_URL}/mcp"
    values: dict[str, Any] = {
        # The usual key is public knowledge; one that somebody chose instead is theirs to know.
        "bearer": "porthole-local-dev" if settings.LOCAL_DEV_BEARER == "porthole-local-dev" else None,
        "tools": TOOLS.values(),
        "address": address,
        "install_links": install_links(address),
        "commands": commands(address),
    }
    if request.user.is_authenticated:
        values["glances"] = glances_of(request.user)
    return render(request, "home.html", values)


def glances_of(user: User) -> list[Glance]:
    """Five queries, however many organizations there are."""
    memberships = Membership.objects.filter(user=user).select_related("organization")
    memberships = memberships.order_by("organization__name", "id")
    ids = [membership.organization_id for membership in memberships]
    counts, platforms = count_by_health(ids, timezone.now()), platforms_of(ids)
    return [Glance(one, counts[one.organization_id], platforms[one.organization_id]) for one in memberships]


def install_links(address: str) -> list[tuple[str, str]]:
    """Name of the editor, and the address that opens it and offers to add this server.

    https://cursor.com/docs/mcp/install-links and https://code.visualstudio.com/api/extension-guides/ai/mcp
    """
    config = b64encode(json.dumps({"url": address}).encode()).decode()
    cursor = urlencode({"name": "porthole", "config": config})
    code = quote(json.dumps({"name": "porthole", "type": "http", "url": address}), safe="")
    return [
        ("Cursor", f"cursor://anysphere.cursor-deeplink/mcp/install?{cursor}"),
        ("VS Code", f"vscode:mcp/install?{code}"),
    ]


def commands(address: str) -> list[tuple[str, str]]:
    """Name of a program for the terminal, and the line that adds this server."""
    return [
        ("Claude Code", f"claude mcp add --transport http porthole {address}"),
        ("Codex", f"codex mcp add porthole --url {address}"),
        ("Gemini CLI", f"gemini mcp add --transport http porthole {address}"),
    ]
