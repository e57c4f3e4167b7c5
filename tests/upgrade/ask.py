"""Asks every tool in many ways, by HTTP and by MCP, and keeps what was sent and the bytes that came back.

    python clock.py ask.py answers.json people.json SHA          asks whatever there is to ask
    python clock.py ask.py answers.json --again earlier.json     asks exactly what was asked then, old cursors included

`SHA` is a commit that both checkouts have: list_files and get_file read the checkout, and it is named to them, so that
their answers do not follow from where its HEAD is. What they answer without `ref` is left out for that reason.
"""

import json
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.test import Client

TOOLS = "/api/v1/tools/"
MAX_PAGES = 100
APP_TOOLS = ("list_domains", "list_deployments", "list_previews", "list_env_vars", "get_app_health")
# What is asked of every organization, and (with its applicationId) of every application.
SEARCHED = ("list_apps", "list_projects", "list_templates")
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("get_account", {}),
    *[("list_apps", {"status": status}) for status in ("idle", "deploying", "deployed", "error", "unknown")],
    *[(tool, {"query": query}) for tool in SEARCHED for query in ("a", "WORKS 00", "zz")],
    *[(tool, {"limit": limit}) for tool in (*SEARCHED, "list_org_secrets") for limit in (7, 100)],
    *[("list_templates", {"tag": tag}) for tag in ("cms", "web", "none")],
    *[("search_docs", {"query": query, "limit": 20}) for query in ("cursor", "oauth token refresh", "manifest")],
]
ASKED_OF_AN_APP: list[tuple[str, dict[str, Any]]] = [
    ("get_app_health", {}),
    *[(tool, {"limit": limit}) for tool in APP_TOOLS if tool != "get_app_health" for limit in (2, 25)],
    *[("list_deployments", {"status": status}) for status in ("succeeded", "failed", "building")],
    ("list_deployments", {"since": "2026-03-01T11:50:00Z", "until": "2026-05-31T00:00:00Z", "limit": 5}),
    *[("list_previews", filters) for filters in ({"pullRequestNumber": 7}, {"status": "deployed"})],
    *[("list_env_vars", {"scope": scope}) for scope in ("app", "build", "project", "environment")],
]
OF_A_REPOSITORY: list[tuple[str, dict[str, Any]]] = [
    ("list_files", {"limit": 5}), ("list_files", {"path": "apps"}), ("get_file", {"path": "LICENSE"}),
]  # fmt: skip
MCP_HEADERS = [
    {"mcp-protocol-version": "2025-06-18"},
    {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call"},
]


class Recorder:
    def __init__(self) -> None:
        self.client = Client(headers={"host": "localhost"})
        self.answers: list[dict[str, Any]] = []

    def ask(self, bearer: str, path: str, sent: Any, headers: dict[str, str]) -> Any:
        """What the answer holds, as JSON."""
        response = self.client.post(
            path, json.dumps(sent), content_type="application/json",
            headers={"authorization": f"Bearer {bearer}", **headers},
        )  # fmt: skip
        call = {"bearer": bearer, "path": path, "sent": sent, "headers": headers}
        body = response.content.decode() if response.status_code == 200 else _refusal(response.json())
        self.answers.append(call | {"status": response.status_code, "type": response["Content-Type"], "body": body})
        return response.json()

    def tool(self, bearer: str, tool: str, sent: dict[str, Any]) -> Any:
        """Asks by HTTP, and by MCP in its two ways."""
        answer = self.ask(bearer, TOOLS + tool, sent, {})
        for headers in MCP_HEADERS:
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": sent}}
            if "mcp-method" in headers:
                meta = {"protocolVersion": headers["mcp-protocol-version"], "clientCapabilities": {}}
                message["params"]["_meta"] = {f"io.modelcontextprotocol/{key}": value for key, value in meta.items()}
            named = {"mcp-name": tool} if "mcp-method" in headers else {}
            self.ask(bearer, "/mcp", message, headers | named)
        return answer

    def walk(self, bearer: str, tool: str, sent: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Every page of a list; the items."""
        for _ in range(MAX_PAGES):
            answer = self.tool(bearer, tool, sent)
            yield from answer.get("items", [])
            if not answer.get("nextCursor"):
                return
            sent = {**sent, "cursor": answer["nextCursor"]}

    def exports(self) -> None:
        for slug, platform in (("demo", "manifest"), ("rival-demo", "manifest"), ("works", "dokploy")):
            out = StringIO()
            call_command("export_manifest", slug, platform=platform, stdout=out)
            self.answers.append({"export": slug, "platform": platform, "body": out.getvalue()})


def _refusal(body: Any) -> str:
    """Which refusal it is: its sentences are no part of what must stay, and its request id is new each time."""
    if isinstance(body.get("detail"), list):
        return json.dumps([body["code"], [(problem["loc"], problem["type"]) for problem in body["detail"]]])
    return json.dumps([body.get("code"), body.get("error", {}).get("code")])


def record(people: dict[str, Any], sha: str) -> Recorder:
    from apps.tools.registry import TOOLS as REGISTERED

    recorder = Recorder()
    everywhere: dict[str, list[str]] = {}
    for bearer in (settings.LOCAL_DEV_BEARER, people["access_token"]):
        for name, tool in REGISTERED.items():
            recorder.tool(bearer, name, with_ref(name, dict(tool.example.input), sha))
        for tool_name, sent in ASKED:
            list(recorder.walk(bearer, tool_name, sent))
        everywhere[bearer] = [app["id"] for app in recorder.walk(bearer, "list_apps", {"limit": 100})]
        of_projects(recorder, bearer)
    for bearer, apps in everywhere.items():
        for app in chosen(apps, people["mended"]):
            of_app(recorder, bearer, app, sha)
    for bearer, other in zip(everywhere, reversed(everywhere), strict=True):
        for tool_name in APP_TOOLS:  # of another organization: not found
            recorder.tool(bearer, tool_name, {"applicationId": everywhere[other][0]})
    recorder.exports()
    return recorder


def chosen(apps: list[str], mended: str) -> list[str]:
    """Of many applications that are alike, those with something in them come first or last."""
    return list(dict.fromkeys([*apps[:8], *apps[-8:], *([mended] if mended in apps else [])]))


def of_projects(recorder: Recorder, bearer: str) -> None:
    for project in list(recorder.walk(bearer, "list_projects", {"limit": 100}))[:12]:
        list(recorder.walk(bearer, "list_org_secrets", {"projectId": project["id"]}))
        list(recorder.walk(bearer, "list_apps", {"projectId": project["id"], "limit": 20}))
        for environment in project["environments"][:3]:
            list(recorder.walk(bearer, "list_apps", {"environmentId": environment["id"]}))


def of_app(recorder: Recorder, bearer: str, app: str, sha: str) -> None:
    for tool, sent in ASKED_OF_AN_APP:
        list(recorder.walk(bearer, tool, {"applicationId": app, **sent}))
    for preview in list(recorder.walk(bearer, "list_previews", {"applicationId": app}))[:2]:
        list(recorder.walk(bearer, "list_deployments", {"applicationId": app, "previewId": preview["id"]}))
    for tool, sent in (
        ("list_files", {"limit": 5}),
        ("list_files", {"path": "apps"}),
        ("get_file", {"path": "LICENSE"}),
    ):
        recorder.tool(bearer, tool, {"applicationId": app, "ref": sha, **sent})


def with_ref(tool: str, sent: dict[str, Any], sha: str) -> dict[str, Any]:
    return {**sent, "ref": sha} if tool in ("list_files", "get_file") else sent


def repeat(earlier: list[dict[str, Any]]) -> Recorder:
    recorder = Recorder()
    for call in earlier:
        if "path" in call:
            recorder.ask(call["bearer"], call["path"], call["sent"], call["headers"])
    recorder.exports()
    return recorder


def main(file: str, *more: str) -> None:
    if more[0] == "--again":
        recorder = repeat(json.loads(Path(more[1]).read_text()))
    else:
        recorder = record(json.loads(Path(more[0]).read_text()), more[1])
    Path(file).write_text(json.dumps(recorder.answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
