"""Deployments as Coolify's queue and its histories tell them."""

import re
from collections.abc import Mapping

from apps.platforms.coolify import statuses
from apps.platforms.coolify.fields import Row, cut, flag, identifier, moment, number, text
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import BIGGEST_INTEGER

COMMIT = re.compile(r"[0-9a-f]{7,64}")
# Where a deployment's page is: the only place where the queue names the application by the id that others know it by.
PAGE = re.compile(r"/project/[\w-]+/environment/[\w-]+/application/([\w-]+)/deployment/[\w-]+")


def app_of(row: Row) -> str | None:
    found = PAGE.fullmatch(text(row, "deployment_url") or "")
    return found[1] if found else None


def pull_request_of(row: Row) -> int | None:
    """Its number, where it deploys a preview."""
    told = number(row, "pull_request_id")
    return told if told is not None and 0 < told <= BIGGEST_INTEGER else None


def is_under_way(row: Row) -> bool:
    return statuses.deployment_status(row) in statuses.UNDER_WAY


def deployment_of(row: Row, app: str, site: str, previews: Mapping[int, str]) -> base.Deployment | None:
    """`site`: the address that pages are below. None where it cannot be kept: without an id or a time."""
    key, created_at, pull_request = identifier(row, "deployment_uuid"), moment(row, "created_at"), pull_request_of(row)
    if key is None or created_at is None:
        return None
    message = text(row, "commit_message")
    return base.Deployment(
        key=key,
        app=app,
        preview=previews.get(pull_request) if pull_request else None,
        is_preview=pull_request is not None,
        status=statuses.deployment_status(row),
        upstream_status=cut(base.Deployment, "upstream_status", text(row, "status")),
        title=_title(row, message, pull_request),
        commit_sha=_commit(row),
        commit_message=cut(base.Deployment, "commit_message", message),
        trigger=statuses.trigger(row),
        created_at=created_at,
        finished_at=moment(row, "finished_at"),
        dashboard_url=_page(row, site),
    )


def _title(row: Row, message: str | None, pull_request: int | None) -> str:
    first_line = (message or "").strip().partition("\n")[0]
    if title := cut(base.Deployment, "title", first_line):
        return title
    if flag(row, "rollback"):
        return "Rollback"
    return f"Preview of pull request {pull_request}" if pull_request else "Deployment"


def _commit(row: Row) -> str | None:
    """Only an id: until it is known there is `HEAD`, and it may be a tag."""
    commit = (text(row, "commit") or "").lower()
    return commit if COMMIT.fullmatch(commit) else None


def _page(row: Row, site: str) -> str | None:
    path = text(row, "deployment_url") or ""
    return cut(base.Deployment, "dashboard_url", f"{site}{path}") if PAGE.fullmatch(path) else None
