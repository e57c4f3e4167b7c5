"""Dokploy's words for states, in ours. Its own word goes along; one that is not known here is unknown."""

from typing import TypedDict

from apps.platforms.dokploy.fields import Row, cut, text
from apps.platforms.snapshot import base

# Of applications, compose stacks and previews. It says how the last deployment went, not whether anything runs.
STATUSES = {"idle": "idle", "running": "deploying", "done": "deployed", "error": "error"}
DEPLOYMENT_STATUSES = {"running": "building", "done": "succeeded", "error": "failed", "cancelled": "cancelled"}
CERTIFICATE_TYPES = frozenset({"letsencrypt", "custom", "none"})


class StatusFields(TypedDict):
    status: str
    upstream_status: str | None


def status_of(row: Row, name: str) -> StatusFields:
    return _status(text(row, name), STATUSES)


def deployment_status_of(row: Row) -> StatusFields:
    return _status(text(row, "status"), DEPLOYMENT_STATUSES)


def certificate_type_of(row: Row) -> str:
    word = text(row, "certificateType")
    return word if word in CERTIFICATE_TYPES else "unknown"


def _status(word: str | None, known: dict[str, str]) -> StatusFields:
    return {
        "status": known.get(word or "", "unknown"),
        "upstream_status": cut(base.AppState, "upstream_status", word),
    }
