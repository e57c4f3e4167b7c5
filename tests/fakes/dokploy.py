"""A fake Dokploy (0.24 to 0.30) over real HTTP on loopback, with the real one's fields, quirks and errors.

    with DokployFake(version="0.30.2", applications=20, composes=1) as fake:
        fake.url, fake.key                    # where it answers, and the key
        fake.requests                         # all so far: Request(method, path, query); path as /api/project.all
        fake.strangers()                      # requests that named an id which it had not listed before
        application = fake.rows.applications[0]
        deployment = fake.rows.deploy(application)        # one begins; finish(deployment, "error") ends it
        fake.rows.add_preview(application, 12); fake.rows.add_application(); fake.rows.remove(application)
        fake.fail("project.all", "truncated") # what a procedure answers from now on ("*": all); fake.heal()
        fake.calls_left = 5                   # then the key is refused, as a rate limit is; None: no limit
        fake.minute.limit = 200               # so many calls in any minute, others are refused in the same way

Kinds of failure: those of FAILURES, "truncated", "hang" (until healed or ended), "huge" (10 MB) and "encrypted" (every
text of variables comes back as enc:v1:…). Every value that may reach nobody holds CANARY.

`python -m tests.fakes.dokploy --port 8001` serves one whose deployments keep beginning, failing and finishing.
"""

import argparse
import contextlib
import copy
import json
import re
import threading
from typing import Any

from tests.fakes.dokploy_answers import Answers, Missing
from tests.fakes.dokploy_rows import CANARY, Rows
from tests.fakes.loopback import LoopbackFake, Request

__all__ = ["CANARY", "FAILURES", "DokployFake", "Request"]

STACK = f"TRPCError: failed\n    at /app/{CANARY}.js:1:1"
FAILURES: dict[str, tuple[int, Any]] = {
    "unauthorized": (401, {"message": "Unauthorized"}),  # a bad key, and a rate limit in disguise
    "foreign": (401, {"message": f"You are not {CANARY}", "code": "UNAUTHORIZED"}),
    "forbidden": (403, {"message": "Forbidden", "code": "FORBIDDEN"}),
    "missing": (404, {"message": "Not found", "code": "NOT_FOUND"}),
    "bad_request": (400, {"message": "Input validation failed", "code": "BAD_REQUEST", "issues": [{"m": CANARY}]}),
    "error": (500, {"message": "Internal", "code": "INTERNAL_SERVER_ERROR", "stack": STACK}),
    "unavailable": (503, f"<html>{CANARY}</html>"),
    "busy": (429, {"message": "Too many requests"}),
    "redirect": (302, ""),
    "empty": (200, []),
    "null": (200, None),
    "object": (200, {"message": CANARY}),
    "html": (200, f"<!doctype html><title>{CANARY}</title>"),
}
ENV_FIELDS = ("env", "previewEnv", "buildArgs", "buildSecrets")
ID = re.compile(r'"(?:\w+Id|appName|id)": ?"([^"]+)"')


class DokployFake(LoopbackFake):
    def __init__(
        self,
        version: str = "0.30.2",
        *,
        applications: int = 2,
        composes: int = 0,
        port: int = 0,
        delay: float = 0,
        host: str = "acme.example",
        is_live: bool = False,
    ) -> None:
        super().__init__(port, delay)
        self.version = version
        self.key = f"dokploy{CANARY}"
        self.rows = Rows(applications, composes, host, is_live=is_live)
        self.calls_left: int | None = None
        self._listed: set[str] = set()

    def fail(self, procedure: str, kind: str) -> None:
        assert kind in (*FAILURES, "truncated", "hang", "huge", "encrypted")
        super().fail(procedure, kind)

    def respond(self, request: Request, headers: Any, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        status, told = self.answer(request, headers.get("x-api-key"))
        return status, told, {"Location": "http://169.254.169.254/latest/meta-data/"} if status == 302 else {}

    def answer(self, request: Request, key: str | None) -> tuple[int, bytes]:
        procedure = request.path.removeprefix("/api/")
        with self._lock:
            self.requests.append(request)
            if any(value not in self._listed for value in request.query.values()):
                self._strangers.append(request)
            if key != self.key or self.calls_left == 0 or self.minute.refuses_for():
                return _encoded(*FAILURES["unauthorized"])
            if self.calls_left:
                self.calls_left -= 1
        kind = self._failures.get(procedure) or self._failures.get("*")
        if kind in FAILURES:
            return _encoded(*FAILURES[kind])
        if kind == "hang":
            self._released.wait(30)
        status, body = self._told(request.method, procedure, request.query, kind == "encrypted")
        if kind == "truncated":
            body = body[: len(body) // 2]
        if kind == "huge":
            body = b'["' + b"x" * 10 * 2**20 + b'"]'
        with self._lock:
            self._listed.update(ID.findall(body.decode(errors="replace")))
        return status, body

    def _told(self, method: str, procedure: str, query: dict[str, str], encrypted: bool) -> tuple[int, bytes]:
        answer = Answers(self.rows, self.version).procedures().get(procedure)
        if method != "GET" or answer is None:
            return _encoded(404, {"message": "No procedure found on path", "code": "NOT_FOUND"})
        try:
            with self.rows.lock:
                value = copy.deepcopy(answer(query))
        except Missing:
            return _encoded(*FAILURES["missing"])
        except KeyError:
            return _encoded(*FAILURES["bad_request"])
        return _encoded(200, _encrypted(value) if encrypted else value)

    def keep_changing(self, pause: float, ended: threading.Event) -> None:
        """Deployments begin, fail and finish, one change each `pause` seconds."""
        number = 0
        while not ended.wait(pause):
            number += 1
            application = self.rows.applications[number % len(self.rows.applications)]
            running = [row for row in self.rows.deployments if row["status"] == "running"]
            if len(running) >= 3:
                failed = number % 5 == 0
                error = "The image could not be built: npm ERR! missing script: build" if failed else None
                self.rows.finish(running[0], "error" if failed else "done", error)
            else:
                self.rows.deploy(application)


def _encrypted(value: Any) -> Any:
    if isinstance(value, list):
        return [_encrypted(entry) for entry in value]
    if isinstance(value, dict):
        return {
            name: f"enc:v1:{CANARY}==" if name in ENV_FIELDS and entry else _encrypted(entry)
            for name, entry in value.items()
        }
    return value


def _encoded(status: int, value: Any) -> tuple[int, bytes]:
    return status, value.encode() if isinstance(value, str) and value.startswith("<") else json.dumps(value).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake Dokploy whose deployments keep changing.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--applications", type=int, default=20)
    parser.add_argument("--pause", type=float, default=5, help="seconds between two changes")
    options = parser.parse_args()
    with DokployFake(applications=options.applications, composes=1, port=options.port, is_live=True) as fake:
        for number in (1, 2):
            fake.rows.add_preview(fake.rows.applications[0], number)
        print(f"A fake Dokploy answers at {fake.url}, with the key {fake.key}", flush=True)  # noqa: T201
        with contextlib.suppress(KeyboardInterrupt):
            fake.keep_changing(options.pause, threading.Event())


if __name__ == "__main__":
    main()
