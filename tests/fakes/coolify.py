"""A fake Coolify (4.0.0-beta.445 to 4.3) over real HTTP on loopback, with the real one's fields, quirks and errors.

    with CoolifyFake(version="4.3.11", applications=5, services=1) as fake:
        fake.url, fake.key                  # where it answers, and the token
        fake.requests                       # all so far: Request(method, path, query)
        fake.strangers()                    # requests that named an id which it had not listed before
        fake.rows.deploy(0)                 # a deployment of application 0 begins; rows.finish(uuid, "failed") ends it
        fake.rows.add_preview(0, 12); fake.mcp = "on"       # else "off" (404), "team" (403 by the team), "stream"
        fake.fail("/applications", "error") # what a path below /api/v1 (or "/mcp") answers from now on; fake.heal()
        fake.minute.limit = 200             # calls in any minute, then 429 with Retry-After; None: none

A path given to `fail` may be a regular expression. Kinds of failure: those of FAILURES, "hang" (until the fake ends)
and "truncated". Options: `reads_secrets` (a token that is too strong), `is_nested=False` (services are
listed without their parts), `numbers_as_keys` (`/deployments` as an object).

`python -m tests.fakes.coolify --port 8001` serves one whose deployments keep beginning, failing and finishing.
"""

import argparse
import itertools
import json
import math
import re
import time
from typing import Any

from tests.fakes.coolify_rows import CANARY, Rows
from tests.fakes.loopback import LoopbackFake, Request

DOCS = {"docs": "https://coolify.io/docs"}
# status, body, headers
FAILURES: dict[str, tuple[int, Any, dict[str, str]]] = {
    "unauthenticated": (401, {"message": "Unauthenticated."}, {}),
    "left_team": (401, {"message": "Invalid token."} | DOCS, {}),
    "left_team_old": (400, {"message": "Invalid token."} | DOCS, {}),
    "missing_ability": (403, {"message": "Missing required permissions: read"}, {}),
    "forbidden": (403, {"message": "This action is unauthorized."}, {}),
    "api_disabled": (403, {"success": True, "message": "API is disabled."}, {}),
    "address": (403, {"success": True, "message": "You are not allowed to access the API."}, {}),
    "invalid": (422, {"message": "Validation failed.", "errors": {"take": [CANARY]}}, {}),
    "rate_limited": (429, {"message": "Too Many Attempts."}, {"Retry-After": "17"}),
    "not_found": (404, {"message": "Not found."}, {}),
    "no_route": (404, {"message": "Not found."} | DOCS, {}),
    "error": (500, {"message": "Server Error", "trace": [f"#0 connect({CANARY})"]}, {}),
    "redirect": (302, f"<a href='/login?{CANARY}'>", {"Location": "/login"}),
    "html": (200, f"<!doctype html><title>{CANARY}</title>", {}),
    "strange": (200, {"items": {"secret": CANARY}}, {}),
    "large": (200, f"[{'1,' * (5 * 2**20)}1]", {}),
}
NOT_FOUND, NO_ROUTE = FAILURES["not_found"], FAILURES["no_route"]
APPLICATION_NAMES = ("DATABASE_URL", "NODE_VERSION", "SESSION_SECRET")


class CoolifyFake(LoopbackFake):
    def __init__(
        self,
        version: str = "4.3.11",
        *,
        applications: int = 5,
        services: int = 1,
        per_project: int = 10,
        reads_secrets: bool = False,
        is_nested: bool = True,
        numbers_as_keys: bool = False,
        port: int = 0,
        delay: float = 0,
    ) -> None:
        super().__init__(port, delay)
        is_old = version.startswith(("4.0", "4.1"))
        self.rows = Rows(applications, services, is_old=is_old, reads_secrets=reads_secrets, per_project=per_project)
        self.version, self.key = version, "7|t0kenOfTheFakeThatNobodyMaySee"
        self.is_nested, self.numbers_as_keys = is_nested, numbers_as_keys
        self.mcp = "off"
        self.listed: set[str] = set()

    def respond(self, request: Request, headers: Any, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        token = (headers.get("Authorization") or "").removeprefix("Bearer ")
        status, told, more = self.answer(request, token, json.loads(body) if body else None)
        return status, (told if isinstance(told, str) else json.dumps(told)).encode(), more

    # Answering

    def answer(self, request: Request, token: str | None, body: Any) -> tuple[int, Any, dict[str, str]]:
        with self._lock:
            self.requests.append(request)
            if not ids_in(request, body) <= self.listed:
                self._strangers.append(request)
            path = request.path.removeprefix("/api/v1")
            if seconds := self.minute.refuses_for():
                status, told, headers = FAILURES["rate_limited"]
                return status, told, headers | {"Retry-After": str(math.ceil(seconds))}
            if kind := next((kind for one, kind in self._failures.items() if re.fullmatch(one, path)), None):
                return self._failure(kind, path, request)
            if token != self.key:
                return FAILURES["unauthenticated"]
            return self._told(path, request, body)

    def _failure(self, kind: str, path: str, request: Request) -> tuple[int, Any, dict[str, str]]:
        if kind == "hang":
            self._lock.release()
            self._released.wait(60)
            self._lock.acquire()
        if kind in ("hang", "truncated"):
            status, told, headers = self._told(path, request, None)
            return status, json.dumps(told)[:-7], headers
        return FAILURES[kind]

    def _told(self, path: str, request: Request, body: Any) -> tuple[int, Any, dict[str, str]]:
        if path == "/mcp":
            return self._mcp(request, body)
        for pattern, since, read in ROUTES:
            if (found := re.fullmatch(pattern, path)) and request.method == "GET" and self.is_since(since):
                told = read(self, request.query, *found.groups())
                return NOT_FOUND if told is None else (200, told, {})
        return NO_ROUTE

    def is_since(self, minor: int) -> bool:
        return int(self.version.split(".")[1]) >= minor

    def listing(self, rows: list[dict]) -> list[dict]:
        self.listed |= {row["uuid"] for row in rows if "uuid" in row}
        return rows

    def projects(self) -> list[dict]:
        rows = [self.rows.project(uuid) for uuid in self.rows.project_uuids()]
        return self.listing([{key: row[key] for key in ("id", "uuid", "name", "description")} for row in rows])

    def project(self, uuid: str) -> dict | None:
        if uuid not in self.rows.project_uuids():
            return None
        project = self.rows.project(uuid)
        self.listing(project["environments"])
        return project

    def running(self) -> Any:
        rows = self.rows.running()
        return {str(3 * index + 1): row for index, row in enumerate(rows)} if self.numbers_as_keys else rows

    def history(self, query: dict[str, str], app: str) -> dict | None:
        if all(row["uuid"] != app for row in self.rows.application_rows()):
            return None
        rows, skip = self.rows.deployments.get(app, []), int(query.get("skip", 0))
        return {"count": len(rows), "deployments": rows[skip : skip + int(query.get("take", 10))]}

    def service(self, uuid: str) -> dict | None:
        return next((row for row in self.rows.service_rows() if row["uuid"] == uuid), None)

    def _mcp(self, request: Request, body: Any) -> tuple[int, Any, dict[str, str]]:
        if self.mcp == "off" or not self.is_since(3):
            return 404, "<!doctype html><title>Not Found</title>", {}
        if self.mcp == "team":
            return 403, {"message": "MCP server is disabled for this team."}, {}
        arguments = body["params"]["arguments"]
        assert (request.method, body["params"]["name"]) == ("POST", "list_application_previews")
        rows, page, size = self.rows.previews.get(arguments["uuid"], []), arguments["page"], arguments["per_page"]
        pagination = {"page": page, "per_page": size, "total": len(rows)}
        if page * size < len(rows):
            pagination["next"] = {"tool": "list_application_previews", "args": arguments | {"page": page + 1}}
        told = {"data": {"previews": rows[(page - 1) * size : page * size]}, "_pagination": pagination}
        result = {"content": [{"type": "text", "text": json.dumps(told)}], "isError": False}
        reply = {"jsonrpc": "2.0", "id": body["id"], "result": result}
        if self.mcp == "stream":
            return 200, f"event: message\ndata: {json.dumps(reply)}\n\n", {"Content-Type": "text/event-stream"}
        return 200, reply, {}


UUID = "([a-z0-9-]+)"
# path below /api/v1, the minor release since which it is there, what it tells (None: 404)
ROUTES: list[tuple[str, int, Any]] = [
    ("/version", 0, lambda fake, query: fake.version),
    ("/teams/current", 0, lambda fake, query: {"id": 0, "name": "Acme", "personal_team": False}),
    ("/projects", 0, lambda fake, query: fake.projects()),
    (f"/projects/{UUID}", 0, lambda fake, query, uuid: fake.project(uuid)),
    ("/applications", 0, lambda fake, query: fake.listing(fake.rows.application_rows())),
    ("/services", 0, lambda fake, query: fake.listing(
        [fake.rows.service(index, is_nested=fake.is_nested) for index in range(fake.rows.services)])),
    (f"/services/{UUID}", 0, lambda fake, query, uuid: fake.service(uuid)),
    ("/github-apps", 0, lambda fake, query: fake.listing(fake.rows.github_apps())),
    ("/gitlab-apps", 3, lambda fake, query: fake.listing(fake.rows.gitlab_apps())),
    ("/deployments", 0, lambda fake, query: fake.running()),
    (f"/deployments/applications/{UUID}", 0, lambda fake, query, uuid: fake.history(query, uuid)),
    (f"/applications/{UUID}/envs", 0, lambda fake, query, uuid: fake.rows.variables(*APPLICATION_NAMES)),
    (f"/services/{UUID}/envs", 0, lambda fake, query, uuid: [fake.rows.variable("SERVICE_FQDN_WEB")]),
    ("/team/envs", 3, lambda fake, query: [fake.rows.shared("REGISTRY_PASSWORD")]),
    (f"/projects/{UUID}/envs", 3, lambda fake, query, uuid: [fake.rows.shared("SMTP_PASSWORD")]),
    (f"/projects/{UUID}/environments/{UUID}/envs", 3, lambda fake, query, *uuids: [fake.rows.shared("LOG_LEVEL")]),
]  # fmt: skip


def ids_in(request: Request, body: Any) -> set[str]:
    """The ids that a request names: of all that its path has, what no route of Coolify's is called."""
    words = {"", "api", "v1", "mcp", "version", "team", "teams", "current", "projects", "environments", "envs",
             "applications", "services", "deployments", "github-apps", "gitlab-apps"}  # fmt: skip
    named = set(request.path.split("/")) - words
    return named | ({body["params"]["arguments"]["uuid"]} if body else set())


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake Coolify whose deployments keep changing.")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--applications", type=int, default=20)
    parser.add_argument("--version", default="4.3.11")
    options = parser.parse_args()
    with CoolifyFake(options.version, applications=options.applications, port=options.port) as fake:
        print(f"A fake Coolify {options.version} at {fake.url}, token {fake.key}", flush=True)  # noqa: T201
        for turn in itertools.count():
            uuid = fake.rows.deploy(turn % options.applications)
            time.sleep(10)
            fake.rows.finish(uuid, "failed" if turn % 4 == 3 else "finished")
            time.sleep(5)


if __name__ == "__main__":
    main()
