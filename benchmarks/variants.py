"""What is compared: which servers there are, what each is asked, and what Porthole has to reach against it."""

import json
import sys
from dataclasses import dataclass

from benchmarks.servers import PEERS, Server

TOOL = "/api/v1/tools/list_apps"
INPUT = {"limit": 100}
CALL = {"name": "list_apps", "arguments": INPUT}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
MODERN = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**CALL, "_meta": META}}
MODERN_HEADERS = {
    "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call",
    "Mcp-Name": "list_apps",
}  # fmt: skip
# The environment of a Porthole that keeps no answers: what every call costs then is a miss.
KEEPS_NOTHING = {"ANSWER_CACHE_MIB": "0"}

OURS = [sys.executable, "-m", "gunicorn", "-c", "config/gunicorn.conf.py", "--max-requests", "0"]
GTHREAD = [
    str(PEERS), "-m", "gunicorn", "--bind", "127.0.0.1:{port}", "--workers", "1", "--worker-class", "gthread",
    "--threads", "4", "--preload", "--no-control-socket",
]  # fmt: skip
UVICORN = [
    str(PEERS), "-m", "uvicorn", "--host", "127.0.0.1", "--port", "{port}", "--loop", "uvloop", "--http", "httptools",
    "--no-access-log", "--log-level", "warning",
]  # fmt: skip
# Tokens are for one address, so all of Porthole's servers are told the same, whatever their port.
LOCAL = {
    "PORTHOLE_ENV": "local", "RATE_LIMITS": "off", "LOCAL_DEV_ORG": "bench", "WEB_CONCURRENCY": "1",
    "PUBLIC_URL": "http://localhost:8570",
}  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """A line of the table: `request` is sent to the server again and again. `what` says it in the published table."""

    name: str
    server: str
    request: bytes
    what: str


@dataclass(frozen=True)
class Target:
    """`ours` has to answer `least` times as many requests a second as `peer`; of "cpu": `peer` to take as much more."""

    ours: str
    peer: str
    least: float
    of: str = "requests"


def servers(database: str, ports: list[int]) -> list[Server]:
    """Of one database: `postgresql`, or `sqlite`, which asynchronous peers do not read."""
    django = Server("django", [*GTHREAD, "benchmarks.peers.django_wsgi"])
    found = [
        Server("porthole", [*OURS, "config.wsgi"], LOCAL),
        Server("hello", [*OURS, "benchmarks.peers.hello:application"], LOCAL),
        django,
    ]
    if keeps_answers():
        found.insert(1, Server("keeping nothing", [*OURS, "config.wsgi"], LOCAL | KEEPS_NOTHING))
    if database == "postgresql":
        found += [
            Server(name, [*UVICORN, f"benchmarks.peers.{name}_app:app"]) for name in ("fastapi", "sdk", "fastmcp")
        ]
    for server, port in zip(found, ports, strict=False):
        server.port = port
    return found


def keeps_answers() -> bool:
    """Whether this Porthole can keep answers at all."""
    from django.conf import settings

    return all(hasattr(settings, name) for name in KEEPS_NOTHING)


def variants(token: str, fixed: str, version: str | None, database: str) -> list[Variant]:
    """`version`: that of the answer, where lists have one. Ours come first, of these the one that others are compared
    with."""
    tool = http(TOOL, token, INPUT)
    mcp = http("/mcp", token, MODERN, MODERN_HEADERS)
    found = [Variant("miss", _missing(), tool, "Porthole, miss")]
    found.append(Variant("mcp miss", _missing(), mcp, "Porthole over `/mcp`, miss"))
    if keeps_answers():
        found += [
            Variant("hit", "porthole", tool, "Porthole, hit"),
            Variant("mcp hit", "porthole", mcp, "Porthole over `/mcp`, hit"),
        ]
    if version is not None:
        unchanged = http(TOOL, token, INPUT | {"ifVersion": version})
        found.append(Variant("unchanged", "porthole", unchanged, "Porthole, `ifVersion` that is still right"))
    found += [
        Variant("fixed bearer", _missing(), http(TOOL, fixed, INPUT), "Porthole, miss, fixed bearer"),
        Variant("hello", "hello", http("/", token, INPUT), "A WSGI `hello`, same server"),
        Variant("django", "django", http("/plain", token, INPUT), "Plain Django view, ORM, orjson"),
        Variant("drf", "django", http("/drf", token, INPUT), "DRF, `ModelSerializer` viewset"),
        Variant("ninja", "django", http("/ninja/list_apps", token, INPUT), "django-ninja, with models"),
    ]
    if database == "postgresql":
        found += [
            Variant("fastapi", "fastapi", http("/list_apps", token, INPUT), "FastAPI, asyncpg, orjson, handwritten"),
            Variant("sdk", "sdk", mcp, "MCP SDK, asyncpg, over `/mcp`"),
            Variant("fastmcp", "fastmcp", mcp, "FastMCP, asyncpg, over `/mcp`"),
        ]
    return found


def _missing() -> str:
    return "keeping nothing" if keeps_answers() else "porthole"


TARGETS = (
    Target("miss", "django", 3), Target("hit", "django", 5),
    Target("miss", "drf", 6), Target("hit", "drf", 8),
    Target("miss", "ninja", 4),
    Target("mcp hit", "fastmcp", 3), Target("mcp hit", "sdk", 1.5),
    Target("miss", "fastapi", 0.65), Target("hit", "fastapi", 1.2),
    Target("hit", "hello", 0.35),
    Target("unchanged", "hit", 2, of="cpu"),
)  # fmt: skip


def http(path: str, token: str, sent: object, headers: dict[str, str] | None = None) -> bytes:
    """A whole request. All are sent to the same host name, which local Porthole believes."""
    body = json.dumps(sent).encode()
    lines = {
        "Host": "localhost:8570", "Authorization": f"Bearer {token}", "Content-Type": "application/json",
        "Accept": "application/json", "Content-Length": str(len(body)),
    } | (headers or {})  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body
