"""The HTTP client: where it connects, what it keeps from others, and when it gives up."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any

import pytest
from django.test import override_settings

from apps.net.http import RESOLVED_FOR, Client, HttpError, Response
from apps.net.token_bucket import TokenBucket

KEY = "canary0Key"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.peers: set[Any] = set()
        self.released = threading.Event()
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    def handle_error(self, *_: object) -> None:
        pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self.server.seen.append((self.command, self.path, dict(self.headers), self.rfile.read(length)))
        self.server.peers.add(self.client_address)
        with self.server.lock:
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        try:
            getattr(self, self.path.strip("/").partition("?")[0].partition("/")[0] or "json")()
        except OSError:
            self.close_connection = True
        finally:
            with self.server.lock:
                self.server.at_once -= 1

    do_POST = do_GET

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def json(self) -> None:
        self.answer(json.dumps({"path": self.path}).encode(), **{"X-Some-Header": " a "})

    def redirect(self) -> None:
        self.answer(b"", 302, Location="http://169.254.169.254/latest/meta-data/")

    def wait(self) -> None:
        self.server.released.wait(5)
        self.json()

    def slowly(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        for _ in range(100):
            self.wfile.write(b"x")
            if self.server.released.wait(0.02):
                return

    def large(self) -> None:
        self.answer(b"x" * 3_000_000)

    def bomb(self) -> None:
        self.answer(gzip.compress(b"x" * 3_000_000), **{"Content-Encoding": "gzip"})

    def packed(self) -> None:
        self.answer(gzip.compress(b'{"a": 1}'), **{"Content-Encoding": "gzip"})

    def short(self) -> None:
        self.answer(b'{"a": ', **{"Content-Length": "100"})
        self.close_connection = True

    def text(self) -> None:
        self.answer(f"<p>{KEY}".encode())

    def deep(self) -> None:
        self.answer(b"[" * 200_000)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.released.set()
        server.shutdown()
        thread.join()


def client(url: str, **options: Any) -> Client:
    return Client(url, **{"headers": {"x-api-key": KEY}, "calls_per_minute": 100_000} | options)


def reason_of(client: Client, path: str = "/") -> str:
    with pytest.raises(HttpError) as caught:
        client.get(path).json()
    assert KEY not in repr(caught.value)
    assert caught.value.__context__ is None
    return caught.value.reason


def test_it_asks_below_its_base_address(server):
    told = client(f"{server.url}/json/").get("/a b/ü?", {"x": "1 &", "n": 2})
    assert told.status == 200
    assert told.json() == {"path": "/json/a%20b/%C3%BC%3F?x=1+%26&n=2"}
    assert told.headers["x-some-header"] == "a"
    method, _, headers, _ = server.seen[0]
    assert (method, headers["x-api-key"], headers["Accept"]) == ("GET", KEY, "application/json")


def test_it_posts_json(server):
    assert client(server.url).post_json("/json", {"a": [1]}).status == 200
    method, _, headers, body = server.seen[0]
    assert (method, headers["Content-Type"], body) == ("POST", "application/json", b'{"a": [1]}')


def test_parts_of_a_path_are_quoted_whole(server):
    told = client(f"{server.url}/json/").get(["projects", "a b/c.d"])
    assert told.json() == {"path": "/json/projects/a%20b%2Fc.d"}
    assert reason_of(client(server.url), ["projects", ".."]) == "not_allowed"


@pytest.mark.parametrize("path", ["/../x", "a/../../x", "a/./b", ".."])
def test_a_path_does_not_leave_its_base_address(server, path):
    assert reason_of(client(server.url), path) == "not_allowed"
    assert server.seen == []


def test_a_redirect_is_an_answer_and_is_not_followed(server):
    told = client(server.url).get("/redirect")
    assert (told.status, told.headers["location"]) == (302, "http://169.254.169.254/latest/meta-data/")
    assert len(server.seen) == 1


def test_connections_are_used_again(server):
    one = client(server.url, max_at_once=1)
    for _ in range(3):
        one.get("/json")
    assert len(server.peers) == 1
    assert one.calls == 3


def test_no_proxy_of_the_environment_is_asked(server, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert client(server.url).get("/json").status == 200


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/large", "too_large"),
        ("/bomb", "too_large"),
        ("/short", "failed"),
        ("/text", "not_json"),
        ("/deep", "not_json"),
    ],
)
def test_what_cannot_be_used_has_a_reason(server, path, reason):
    assert reason_of(client(server.url, max_bytes=1_000_000), path) == reason


def test_packed_answers_are_unpacked(server):
    assert client(server.url).get("/packed").json() == {"a": 1}


def test_a_call_ends_in_time_however_slowly_the_answer_comes(server):
    began = time.monotonic()
    assert reason_of(client(server.url, timeout=0.2), "/slowly") == "timeout"
    assert reason_of(client(server.url, timeout=0.2), "/wait") == "timeout"
    assert time.monotonic() - began < 3


def test_a_client_goes_on_after_a_failure(server):
    one = client(server.url, max_bytes=1_000_000, max_at_once=1)
    assert reason_of(one, "/large") == "too_large"
    assert one.get("/json").status == 200


def test_who_is_not_there_is_told_from_who_has_no_name():
    assert reason_of(client("http://127.0.0.1:1")) == "refused"
    assert reason_of(client("http://nobody.invalid")) == "unresolved"


def test_what_speaks_no_tls_is_told(server):
    assert reason_of(client(server.url.replace("http://", "https://"))) == "tls"


def test_no_more_calls_run_at_once_than_may(server):
    one = client(server.url, max_at_once=2)
    threads = [threading.Thread(target=one.get, args=("/wait",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    while server.most_at_once < 2:
        time.sleep(0.001)
    server.released.set()
    for thread in threads:
        thread.join()
    assert server.most_at_once == 2
    assert one.calls == 6


def test_nothing_shows_the_key_or_an_answer(server):
    one = client(server.url)
    told = one.get("/text")
    assert KEY not in repr(one) + repr(told) + str(told) + repr(vars(one)["_turns"])
    with pytest.raises(ValueError, match="x-api-key") as refusal:
        client(server.url, headers={"x-api-key": f"{KEY}\nX-Other: 1"})
    assert KEY not in str(refusal.value)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com", "file:///etc/passwd", "gopher://example.com", "http://u:p@example.com", "http://",
        "http://127.1", "http://0x7f.1", "http://2130706433", "http://0177.0.0.1", "http://017700000001",
        "http://example.com/?a=b", "http://example.com#a", "http://example.com:0", "http://exa mple.com",
        "http://[fe80::1%25eth0]", "http://example.com\\@127.0.0.1", "",
    ],
)  # fmt: skip
def test_an_address_that_parsers_may_differ_on_is_refused(url):
    with pytest.raises(HttpError) as refusal:
        client(url)
    assert refusal.value.reason == "not_allowed"


def resolving(monkeypatch, *addresses):
    """Every name has these addresses; the next time it would have those of the next call."""
    asked = []

    def resolve(host, port, type):
        asked.append(host)
        return [(socket.AF_INET6 if ":" in one else socket.AF_INET, type, 6, "", (one, port)) for one in addresses]

    monkeypatch.setattr("apps.net.http.resolve_allowed.__kwdefaults__", {"allowed_networks": (), "resolve": resolve})
    return asked


NEVER = [
    "169.254.169.254", "169.254.1.1", "0.0.0.0", "100.100.100.200", "224.0.0.1", "255.255.255.255", "192.0.2.1",
    "198.18.0.1", "::", "fe80::1", "fd00:ec2::254", "ff02::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1", "2001:db8::1", "::127.0.0.1", "64:ff9b:1::a9fe:a9fe",
]  # fmt: skip
LOOPBACK = ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]


@pytest.mark.parametrize("address", NEVER)
def test_special_addresses_are_never_reached(monkeypatch, address):
    for addresses in ((address,), ("10.0.0.1", address)):
        resolving(monkeypatch, *addresses)
        assert reason_of(client("http://dokploy.example")) == "not_allowed"


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "0.0.0.0", "fd00:ec2::254"]
)
def test_nobody_can_open_link_local_addresses(monkeypatch, address):
    resolving(monkeypatch, address)
    everything = [ip_network("0.0.0.0/0"), ip_network("::/0")]
    assert reason_of(client("http://dokploy.example", allowed_networks=everything)) == "not_allowed"


@pytest.mark.parametrize("address", LOOPBACK)
def test_loopback_is_for_local_installations_and_whoever_opens_it(monkeypatch, address):
    resolving(monkeypatch, address)
    with override_settings(IS_LOCAL=False):
        assert reason_of(client("http://dokploy.example:1")) == "not_allowed"
        opened = client("http://dokploy.example:1", allowed_networks=[ip_network("127.0.0.0/8"), ip_network("::1/128")])
    if address == "127.0.0.1":
        assert reason_of(opened) == "refused"
        assert reason_of(client("http://dokploy.example:1")) == "refused"


@pytest.mark.parametrize("literal", ["http://169.254.169.254", "http://[::ffff:a9fe:a9fe]", "http://[fe80::1]"])
def test_addresses_themselves_are_checked_as_well(literal):
    assert reason_of(client(literal)) == "not_allowed"


@pytest.mark.parametrize("address", ["10.1.2.3", "172.16.0.1", "192.168.1.1", "fd12::1", "93.184.216.34"])
def test_private_networks_may_be_reached(monkeypatch, address):
    resolving(monkeypatch, address)
    one = client("http://dokploy.example")
    assert one._resolve().addresses == (address,)


@pytest.mark.parametrize("address", ["10.1.2.3", "172.16.0.1", "192.168.1.1", "fd12::1"])
def test_private_networks_may_need_to_be_opened(monkeypatch, address):
    resolving(monkeypatch, address)
    assert reason_of(client("http://git.example", allows_private=False)) == "not_allowed"
    one = client("http://git.example", allows_private=False, allowed_networks=[ip_network(address)])
    assert one._resolve().addresses == (address,)


def test_without_private_networks_loopback_is_for_local_installations_too(monkeypatch):
    resolving(monkeypatch, "127.0.0.1")
    assert reason_of(client("http://git.example:1", allows_private=False)) == "refused"
    with override_settings(IS_LOCAL=False):
        assert reason_of(client("http://git.example:1", allows_private=False)) == "not_allowed"


def test_a_name_is_resolved_once_and_its_address_is_the_one_that_is_used(server, monkeypatch):
    asked = resolving(monkeypatch, "127.0.0.1")
    one = client(f"http://dokploy.invalid:{server.server_port}")
    assert one.get("/json").status == 200
    resolving(monkeypatch, "169.254.169.254")
    one._idle = type(one._idle)()
    one._idle.put(None)  # a new connection, which would ask for the name again
    assert one.get("/json").status == 200
    assert asked == ["dokploy.invalid"]
    resolved, at = one._resolved
    one._resolved = resolved, at - RESOLVED_FOR
    assert reason_of(one) == "not_allowed"  # names get new addresses, and those are checked
    assert server.seen[0][2]["Host"] == f"dokploy.invalid:{server.server_port}"


def test_turns_come_evenly_after_a_burst():
    now, slept = [100.0], []

    def sleep(seconds):
        slept.append(round(seconds, 3))
        now[0] += seconds

    bucket = TokenBucket(60, 3, clock=lambda: now[0], sleep=sleep)
    for _ in range(6):
        bucket.wait()
    assert slept == [1, 1, 1]
    now[0] += 100
    for _ in range(4):
        bucket.wait()
    assert slept == [1, 1, 1, 1]
    assert bucket.taken == 10


@pytest.mark.parametrize(("per_minute", "burst"), [(0, 1), (1, 0)])
def test_there_must_be_turns(per_minute, burst):
    with pytest.raises(ValueError, match="turn"):
        TokenBucket(per_minute, burst)


def test_a_response_that_is_json_is_read():
    assert Response(200, {}, b'{"a": [1, null]}').json() == {"a": [1, None]}
