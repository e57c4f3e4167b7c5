"""Plain http outside local: no secret is taken or given, whatever a proxy or a caller says."""

import json
import shutil
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.config.server import PREVIEW, PRODUCTION, Answer, Server, gunicorn, run

HOST = "porthole.example.com"
PROXY = {"TRUSTED_PROXIES": "127.0.0.0/8"}
NEEDING = {
    "/api/v1/tools/list_apps": "code", "/api/v1/nothing": "code", "/mcp": "error", "/api/auth/mcp/token": "error",
    "/api/auth/mcp/register": "error", "/api/auth/mcp/revoke": "error", "/api/auth/mcp/authorize": "page",
    "/account/": "page", "/account/login/": "page", "/account/invitations/x/": "page", "/admin/": "page",
    "/api/v1/docs/signed-in": "code",
}  # fmt: skip
OPEN = {"/healthz": 200, "/readyz": 200, "/api/v1/openapi.json": 200, "/.well-known/oauth-authorization-server": 200}
MOVED = ["/", "/api/v1/docs", "/nothing"]


@pytest.fixture(scope="module")
def folder(databases: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A DATA_DIR with the organizations, in which pages find the names of their style sheets."""
    folder = tmp_path_factory.mktemp("data")
    shutil.copy(databases / "organizations.sqlite3", folder / "porthole.sqlite3")
    (folder / "static").mkdir()
    files = [path for finder in finders.get_finders() for path, _ in finder.list([])]
    manifest = {"version": "1.1", "hash": "", "paths": dict(zip(files, files, strict=True))}
    (folder / "static" / "staticfiles.json").write_text(json.dumps(manifest))
    return str(folder)


@pytest.fixture(scope="module")
def production(folder: str) -> Iterator[Server]:
    with gunicorn(PRODUCTION | PROXY | {"DATA_DIR": folder}) as server:
        yield server


def ask(server: Server, target: str, method: str = "POST", **headers: Any) -> Answer:
    return server.call(target, method=method, host=HOST, token="porthole_at_x", **headers)


def is_refused(answer: Answer) -> bool:
    return answer.status == 403 and (b"https_required" in answer.body or b"is not encrypted" in answer.body)


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_what_carries_secrets_is_refused_in_its_own_shape(production: Server, method: str) -> None:
    for path, shape in NEEDING.items():
        answer = ask(production, path, method, x_forwarded_proto="http")
        assert is_refused(answer), (path, answer)
        assert not {"set-cookie", "www-authenticate", "location", "strict-transport-security"} & set(answer.headers)
        if shape == "page":
            assert b"https://porthole.example.com/" in answer.body
        elif path == "/mcp":
            assert json.loads(answer.body)["error"]["data"]["code"] == "https_required"
        else:
            assert json.loads(answer.body)[shape] == "https_required"


@pytest.mark.parametrize(
    "told", [None, "http", "", "HTTP", "https, http", "http,https", "https,", "httpss", "on", "ws"]
)
def test_only_https_all_the_way_counts(production: Server, told: str | None) -> None:
    assert is_refused(ask(production, "/api/v1/tools/list_apps", x_forwarded_proto=told))


@pytest.mark.parametrize("told", ["https", "HTTPS", " https ", "https, https"])
def test_over_https_every_answer_says_so_for_the_next_time(production: Server, told: str) -> None:
    for path in [*NEEDING, *OPEN, *MOVED]:
        answer = ask(production, path, x_forwarded_proto=told)
        assert not is_refused(answer)
        assert answer.headers["strict-transport-security"] == "max-age=31536000; includeSubDomains"


def test_what_is_public_is_answered_or_moved_and_forms_are_not_moved(production: Server) -> None:
    for path, status in OPEN.items():
        answer = ask(production, path, "GET", x_forwarded_proto="http")
        assert answer.status == status
        assert "strict-transport-security" not in answer.headers
    for path in MOVED:
        answer = ask(production, path, "GET", x_forwarded_proto="http")
        assert (answer.status, answer.headers["location"]) == (301, f"https://{HOST}{path}")
        assert is_refused(ask(production, path, "POST", x_forwarded_proto="http"))


def test_an_unknown_host_comes_first(production: Server) -> None:
    for path in NEEDING:
        assert production.call(path, host="elsewhere.example").status == 400


@pytest.mark.parametrize("name", ["X-Forwarded-Proto", "X-Forwarded-Ssl", "X-Forwarded-Scheme", "Forwarded"])
def test_whoever_is_no_proxy_is_not_believed(client: Client, settings: Any, name: str) -> None:
    settings.HTTPS_REQUIRED = True
    for networks in ([], [ip_network("10.0.0.0/8")]):
        settings.TRUSTED_PROXIES = networks
        for value in ("https", "on", "proto=https"):
            answer = client.post("/api/v1/tools/list_apps", headers={"host": "localhost", name: value})
            assert (answer.status_code, answer.json()["code"]) == (403, "https_required")


def test_a_preview_without_https_has_nothing_to_be_sent_to(folder: str) -> None:
    env = PREVIEW | {"PUBLIC_URL": f"http://{HOST}", "DATA_DIR": folder}
    with gunicorn(env) as server:
        assert ask(server, "/api/v1/tools/list_apps").status == 401
        assert ask(server, "/account/login/", "GET").status == 200


def test_local_needs_none(client: Client, db: None) -> None:
    assert client.post("/api/v1/tools/list_apps").status_code == 401


def test_cookies_are_of_this_host_alone(production: Server, folder: str) -> None:
    """No page sets a session's cookie before somebody signs in: its name is read where it was decided."""
    cookie = ask(production, "/account/login/", "GET", x_forwarded_proto="https").headers["set-cookie"]
    name, *attributes = (part.strip() for part in cookie.split(";"))
    assert name.startswith("__Host-csrftoken=")
    assert {"Secure", "HttpOnly", "Path=/"} <= set(attributes)
    assert not [attribute for attribute in attributes if attribute.startswith("Domain")]
    script = "from config import settings as s; print(s.SESSION_COOKIE_NAME, s.SESSION_COOKIE_SECURE)"
    assert run("-c", script, env=PRODUCTION | {"DATA_DIR": folder}) == (0, "__Host-sessionid True\n")
