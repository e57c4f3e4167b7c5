"""Previews of pull requests, which only Coolify's MCP server lists: a call of one tool, which only reads."""

import json
from typing import Any

from apps.net.http import Response
from apps.platforms.coolify import statuses
from apps.platforms.coolify.addresses import addresses_of
from apps.platforms.coolify.calls import Api, Refused, not_understood
from apps.platforms.coolify.deployments import pull_request_of
from apps.platforms.coolify.fields import Row, cut, identifier, moment, text
from apps.platforms.snapshot import base

TOOL = "list_application_previews"
WHAT = "previews of an application"
PER_PAGE = 100
MAX_PAGES = 10


def read_previews(api: Api, app: str) -> list[Row]:
    """Raises Refused where the MCP server is off, or is for other teams only."""
    rows: list[Row] = []
    for page in range(1, MAX_PAGES + 1):
        response = api.call_mcp_tool(WHAT, TOOL, {"uuid": app, "page": page, "per_page": PER_PAGE})
        answer = _answer(response)
        data = answer.get("data", answer)
        found = api.entries(WHAT, data.get("previews") if isinstance(data, dict) else data)
        rows += found
        pagination = answer.get("_pagination")
        if len(found) < PER_PAGE or not isinstance(pagination, dict) or "next" not in pagination:
            break
    return rows


def preview_of(row: Row, app: str, *, is_deploying: bool) -> base.Preview | None:
    """None where it cannot be kept: without an id or the pull request that it is of."""
    key, pull_request = identifier(row), pull_request_of(row)
    if key is None or pull_request is None:
        return None
    addresses = addresses_of(row.get("fqdn"))
    return base.Preview(
        key=key,
        app=app,
        pull_request_number=pull_request,
        pull_request_url=cut(base.Preview, "pull_request_url", text(row, "pull_request_html_url")),
        branch=f"pull/{pull_request}/head",  # Coolify tells none
        url=addresses[0].url if addresses else None,
        status=statuses.app_status(row, is_deploying=is_deploying),
        upstream_status=cut(base.Preview, "upstream_status", text(row, "status")),
        created_at=moment(row, "created_at"),
    )


def _answer(response: Response) -> Row:
    """What the tool told: in the text of its result, or beside it."""
    reply = _decoded(_message(response))
    result = reply.get("result") if isinstance(reply, dict) else None
    if not isinstance(result, dict):
        raise not_understood(WHAT)
    if result.get("isError"):
        raise Refused("Coolify's MCP server would not list the previews of an application.")
    answer = result.get("structuredContent") or _decoded(_first_text(result))
    if not isinstance(answer, dict):
        raise not_understood(WHAT)
    return answer


def _message(response: Response) -> str:
    """The JSON-RPC message, which may be the data of an event stream."""
    body = response.body.decode(errors="replace")
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        return body
    return "".join(line[5:].strip() for line in body.splitlines() if line.startswith("data:"))


def _first_text(result: Row) -> str:
    content = result.get("content")
    first = content[0] if isinstance(content, list) and content else None
    told = first.get("text") if isinstance(first, dict) else None
    return told if isinstance(told, str) else ""


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
