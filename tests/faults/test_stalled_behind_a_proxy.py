"""Clients that stall at the reverse proxies that docs/running.md describes: nobody behind them notices."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.server import (
    BASE_DIR,
    PREVIEW,
    Answer,
    Connection,
    Server,
    environment,
    free_port,
    gunicorn,
    wait_until_open,
)
from tests.config.server import request_bytes as bytes_of
from tests.faults.stalled import Kind, dripping, probe, silent, slow_reader, stalled
from tests.patience import patience

pytestmark = pytest.mark.soak
E2E = "an end-to-end secret has 32 characters or more".replace(" ", "-")
HOST = "porthole.example.com"
PROXIES = [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed"))
    for name in ("nginx", "caddy")
]
NGINX = """
daemon off;
pid FOLDER/pid;
error_log FOLDER/error.log;
user root;
events {}
http {
    access_log off;
    client_body_temp_path FOLDER/body;
    proxy_temp_path FOLDER/proxy;
    server {
        listen 127.0.0.1:PORT;
LOCATION
    }
}
"""


CADDY = """
{
    admin off
    auto_https off
}
http://porthole.example.com:PORT {
    bind 127.0.0.1
LOCATION
}
"""


def documented(pattern: str) -> str:
    """What docs/running.md says of a proxy. The certificates around it are left out: it only tells of https."""
    found = re.search(pattern, (BASE_DIR / "docs" / "running.md").read_text(), re.DOTALL)
    assert found
    return found[0]


def nginx(folder: Path) -> tuple[str, list[str]]:
    """The configuration, and the command."""
    text = NGINX.replace("LOCATION", documented(r"    location / \{.*?\n    \}\n").replace("$scheme", "https"))
    file = str(folder / "configuration")
    return text, ["nginx", "-p", str(folder), "-c", file, "-e", str(folder / "error.log")]


def caddy(folder: Path) -> tuple[str, list[str]]:
    told = documented(r"    reverse_proxy [^\n]*") + " {\n        header_up X-Forwarded-Proto https\n    }"
    file = str(folder / "configuration")
    return CADDY.replace("LOCATION", told), ["caddy", "run", "--adapter", "caddyfile", "--config", file]


@pytest.fixture(scope="module")
def server(data_dir: Path) -> Iterator[Server]:
    env = {"E2E_BOOTSTRAP_SECRET": E2E, "BOOTSTRAP_ORG": "acme", "TRUSTED_PROXIES": "127.0.0.1/32,::1/128"}
    with gunicorn(PREVIEW | env | {"DATA_DIR": str(data_dir)}) as server:
        yield server


@pytest.fixture(scope="module", params=PROXIES)
def proxy(server: Server, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[int]:
    """Its port."""
    folder, port = tmp_path_factory.mktemp(request.param), free_port()
    text, command = {"nginx": nginx, "caddy": caddy}[request.param](folder)
    text = text.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    (folder / "configuration").write_text(text.replace("FOLDER", str(folder)).replace("PORT", str(port)))
    env = environment({"HOME": str(folder)})
    with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_open(port)
            yield port
        finally:
            process.terminate()


@pytest.mark.parametrize("kind", [silent, dripping, slow_reader])
def test_200_stalled_clients_at_the_proxy_delay_nobody(proxy: int, kind: Kind) -> None:
    def call(target: str, method: str) -> Answer:
        # The rate limit is on, as it always is outside local: the probes are fewer than it lets through.
        with Connection(proxy) as connection:
            connection.send(bytes_of(target, method=method, token=E2E, host=HOST))
            return connection.answer()

    usual = probe(call, 20)
    with stalled(proxy, kind, host=HOST):
        call("/healthz", "GET")  # slow readers have asked for something: that must be answered first
        times = probe(call)
    print(kind.__name__, usual, times)  # noqa: T201  (pytest -rP shows it)
    for target, (median, worst) in times.items():
        assert median < usual[target][0] + patience(1 / 60)  # 50 ms, and more on a busy machine
        assert worst < patience(1 / 6)
