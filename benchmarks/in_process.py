"""What an answer costs Porthole itself: the CPU of one call by each way in, without a server and a network.

    python bin/postgres.py -- python benchmarks/in_process.py

Django's whole handler is called in this process with the same WSGI request, a batch of each variant in turn, so that a
noisy machine disturbs all of them alike. Figures are medians over the batches.
"""

import argparse
import io
import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ |= {"PORTHOLE_ENV": "local", "RATE_LIMITS": "off", "LOCAL_DEV_ORG": "bench"}
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

django.setup()

import logging  # noqa: E402

import orjson  # noqa: E402
from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402

from apps.web.handler import Handler  # noqa: E402
from benchmarks import access, stock  # noqa: E402

TOOL = "/api/v1/tools/list_apps"
INPUT = {"limit": 100}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
CALL = {"name": "list_apps", "arguments": INPUT}
# The same call over MCP, in the newest revision and in the one that clients with a handshake speak.
MODERN = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**CALL, "_meta": META}}
MODERN_HEADERS = {
    "HTTP_MCP_PROTOCOL_VERSION": "2026-07-28", "HTTP_MCP_METHOD": "tools/call", "HTTP_MCP_NAME": "list_apps",
}  # fmt: skip
HANDSHAKE = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
HANDSHAKE_HEADERS = {"HTTP_MCP_PROTOCOL_VERSION": "2025-11-25"}


class Variant:
    def __init__(
        self, name: str, path: str, handler: Handler, bearer: str, sent: Any = INPUT,
        headers: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.path, self.handler, self.bearer = name, path, handler, bearer
        self.body, self.headers, self.status = orjson.dumps(sent), headers or {}, "200"
        self.cpu: list[float] = []
        self.wall: list[float] = []

    def call(self) -> bytes:
        environ = {
            "REQUEST_METHOD": "POST", "PATH_INFO": self.path, "QUERY_STRING": "", "SERVER_NAME": "localhost",
            "SERVER_PORT": "8000", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost:8000",
            "REMOTE_ADDR": "127.0.0.1", "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(self.body)),
            "HTTP_AUTHORIZATION": f"Bearer {self.bearer}", "wsgi.input": io.BytesIO(self.body),
            "wsgi.url_scheme": "http", "wsgi.errors": sys.stderr, "wsgi.multithread": True,
            **self.headers,
        }  # fmt: skip
        statuses: list[str] = []
        response = self.handler(environ, lambda status, headers: statuses.append(status))
        content = b"".join(response)
        if hasattr(response, "close"):
            response.close()
        assert statuses[0].startswith(self.status), (self.name, statuses, content[:300])
        return content

    def batch(self, size: int) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(size):
            self.call()
        self.cpu.append((time.process_time() - cpu) / size)
        self.wall.append((time.perf_counter() - wall) / size)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--batches", type=int, default=60)
    arguments.add_argument("--size", type=int, default=20)
    options = arguments.parse_args()
    logging.disable(logging.CRITICAL)
    stock.fill()
    token = stock.issue_token()
    variants = _variants(token)
    answers = [_result(orjson.loads(variant.call())) for variant in variants]
    assert all(answer["items"] == answers[0]["items"] for answer in answers)
    for variant in variants:
        for _ in range(50):
            variant.call()
    for _ in range(options.batches):
        for variant in variants:
            variant.batch(options.size)
    _print(variants, options.batches * options.size)
    access.measure(_registration(variants[0].handler).call, token, options.batches)


def _result(answer: dict[str, Any]) -> dict[str, Any]:
    """What the tool said, whichever door it came through."""
    result: dict[str, Any] = answer["result"]["structuredContent"] if "jsonrpc" in answer else answer
    return result


def _variants(token: str) -> list[Variant]:
    porthole, fixed = Handler(), settings.LOCAL_DEV_BEARER
    return [
        Variant("fixed bearer", TOOL, porthole, fixed),
        Variant("with OAuth", TOOL, porthole, token),
        Variant("over MCP", "/mcp", porthole, token, MODERN, MODERN_HEADERS),
        Variant("handshake", "/mcp", porthole, token, HANDSHAKE, HANDSHAKE_HEADERS),
    ]


def _registration(handler: Handler) -> Variant:
    sent = {"redirect_uris": ["http://127.0.0.1:1/cb"], "client_name": stock.REGISTERED}
    variant = Variant("registration", "/api/auth/mcp/register", handler, "", sent)
    variant.status = "201"
    return variant


def _print(variants: list[Variant], requests: int) -> None:
    print(f"list_apps, {stock.APPS} applications, {connection.vendor}, {requests} requests each, interleaved")
    print(f"{'':12} {'CPU per request':>16} {'requests/s':>11}")
    for variant in variants:
        print(f"{variant.name:12} {median(variant.cpu) * 1e6:13.0f} µs {1 / median(variant.wall):11.0f}")
    # The same token at both doors: what the other door adds. Batch by batch, since a machine's speed drifts.
    http, *mcp = variants[1:4]
    for variant in mcp:
        ratio = median(there / here for there, here in zip(variant.cpu, http.cpu, strict=True))
        print(f"tools/call list_apps ({variant.name}) against the HTTP door: {ratio:.2f} × the CPU")


if __name__ == "__main__":
    main()
