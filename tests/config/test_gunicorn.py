"""The doors through a real gunicorn: bytes on a socket, with everything that clients and proxies do to them."""

import json
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.utils.datastructures import CaseInsensitiveMapping

from tests.api import check_answer
from tests.config.server import LOCAL, PREVIEW, Answer, Server, gunicorn, has_ipv6, request_bytes
from tests.patience import patience

E2E = "an end-to-end secret has 32 characters or more".replace(" ", "-")
KIB = 1024


@pytest.fixture
def server(local_server: Server) -> Server:
    return local_server


@pytest.fixture(scope="module")
def preview(data_dir: Path) -> Iterator[Server]:
    env = {
        "DATA_DIR": str(data_dir), "E2E_BOOTSTRAP_SECRET": E2E, "BOOTSTRAP_ORG": "acme",
        "TRUSTED_PROXIES": "127.0.0.0/8", "ALLOWED_ORIGINS": "https://app.example.com",
    }  # fmt: skip
    with gunicorn(PREVIEW | env) as server:
        yield server


def code(answer: Answer) -> str:
    """The code of an error, which openapi.json must know."""
    body = json.loads(answer.body)
    check_answer("list_apps", answer.status, body, CaseInsensitiveMapping(answer.headers))
    assert answer.headers["content-type"] == "application/json"
    assert body["requestId"] == answer.headers["x-request-id"]
    return str(body["code"])


def test_it_answers_on_ipv4(server: Server) -> None:
    answer = server.call()
    assert answer.status == 200
    assert json.loads(answer.body)["items"] == []


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_it_answers_on_ipv6(server: Server) -> None:
    assert server.call(address="::1", host=f"[::1]:{server.port}").status == 200


def test_a_chunked_body_is_refused_and_the_connection_goes_on(server: Server) -> None:
    chunked = request_bytes(content_length=None, transfer_encoding="chunked", body=b"2\r\n{}\r\n0\r\n\r\n")
    with server.connect() as connection:
        connection.send(chunked + request_bytes())
        first, second = connection.answer(), connection.answer()
    assert (first.status, code(first)) == (411, "length_required")
    assert second.status == 200


def test_64_kib_are_read_and_one_byte_more_is_not(server: Server) -> None:
    assert server.call(body=b"{}".ljust(64 * KIB)).status == 200
    answer = server.call(body=b"{}".ljust(64 * KIB + 1))
    assert (answer.status, code(answer)) == (413, "too_large")


def test_a_large_body_is_refused_before_it_is_sent(server: Server) -> None:
    with server.connect() as connection:
        connection.send(request_bytes(body=b"", content_length="1000000000"))
        answer = connection.answer()
        assert (answer.status, code(answer)) == (413, "too_large")


def test_after_an_unread_body_the_next_request_is_itself_or_the_connection_ends(server: Server) -> None:
    """What was not read must never be taken for a request."""
    smuggled = request_bytes("/smuggled", method="GET", body=b"")
    for first in (
        request_bytes(token=None, body=smuggled.ljust(1000)),
        request_bytes(token="wrong", body=smuggled.ljust(60 * KIB)),
        request_bytes(body=smuggled.ljust(65 * KIB)),
        request_bytes(content_type="text/plain", body=smuggled),
        request_bytes("/api/v1/tools/no_such_tool", body=smuggled),
        request_bytes("/api/v1/nothing", body=smuggled),
    ):
        with server.connect() as connection:
            connection.send(first + request_bytes(x_request_id="the-second"))
            assert connection.answer().status in (401, 404, 413, 415)
            try:
                second = connection.answer()
            except (AssertionError, ConnectionResetError):
                continue  # it was closed
            assert (second.status, second.headers["x-request-id"]) == (200, "the-second")


def test_after_a_401_with_a_small_body_the_connection_goes_on(server: Server) -> None:
    with server.connect() as connection:
        for _ in range(2):
            connection.send(request_bytes(token=None))
            assert connection.answer().status == 401
        connection.send(request_bytes())
        assert connection.answer().status == 200


def test_pipelined_requests_are_answered_in_order(server: Server) -> None:
    with server.connect() as connection:
        connection.send(b"".join(request_bytes(x_request_id=f"number-{n}") for n in range(10)))
        assert [connection.answer().headers["x-request-id"] for _ in range(10)] == [f"number-{n}" for n in range(10)]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "post"])
def test_other_methods_leave_the_connection_in_order(server: Server, method: str) -> None:
    with server.connect() as connection:
        connection.send(request_bytes(method=method, body=b"") + request_bytes())
        first = connection.answer(is_head=method == "HEAD")
        assert first.status in (405, 400) or method == "post"
        if first.status == 405:
            assert first.headers["allow"] == "POST, OPTIONS"
        if first.status != 400:  # gunicorn's own refusal ends the connection
            assert connection.answer().status == 200


def test_a_preflight_has_no_body_and_says_so(server: Server) -> None:
    with server.connect() as connection:
        connection.send(request_bytes(method="OPTIONS", token=None, origin="http://localhost:3000") + request_bytes())
        answer = connection.answer()
        assert answer.status == 204
        assert "content-length" not in answer.headers  # RFC 9110 §8.6
        assert answer.headers["access-control-allow-origin"] == "http://localhost:3000"
        assert connection.answer().status == 200


def test_the_document_is_not_sent_twice(server: Server) -> None:
    with server.connect() as connection:
        connection.send(request_bytes("/api/v1/openapi.json", method="GET", token=None, body=b""))
        document = connection.answer()
        again = {"method": "GET", "token": None, "body": b"", "if_none_match": document.headers["etag"]}
        connection.send(request_bytes("/api/v1/openapi.json", **again))  # type: ignore[arg-type]
        unchanged = connection.answer()
        connection.send(request_bytes("/api/v1/openapi.json", method="HEAD", token=None, body=b""))
        head = connection.answer(is_head=True)
        connection.send(request_bytes())
        assert connection.answer().status == 200
    assert (document.status, unchanged.status, head.status) == (200, 304, 200)
    assert unchanged.headers.get("content-length") in (None, str(len(document.body)))  # RFC 9110 §8.6
    assert unchanged.headers["etag"] == head.headers["etag"] == document.headers["etag"]
    assert head.headers["content-length"] == str(len(document.body))


# The local bearer


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "[::1]:8000", "LOCALHOST"])
def test_the_local_bearer_opens_at_loopback_hosts(server: Server, host: str) -> None:
    assert server.call(host=host).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"x_forwarded_for": "127.0.0.1"}, {"x_forwarded_for": ""}, {"x_forwarded_host": "localhost"},
        {"x_forwarded_proto": "https"}, {"x_forwarded_port": "80"}, {"x_real_ip": "127.0.0.1"},
        {"forwarded": "for=127.0.0.1"}, {"via": "1.1 proxy"}, {"x_client_ip": "127.0.0.1"},
        {"cf_connecting_ip": "127.0.0.1"}, {"true_client_ip": "127.0.0.1"},
        {"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://localhost.evil.example"},
        {"origin": ""}, {"sec_fetch_site": "cross-site"},
    ],
    ids=lambda headers: "-".join(f"{name}={value}" for name, value in headers.items()),
)  # fmt: skip
def test_the_local_bearer_does_not_open_past_a_proxy_or_from_another_site(
    server: Server, headers: dict[str, str]
) -> None:
    answer = server.call(**headers)
    assert (answer.status, code(answer)) == (401, "unauthorized")
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://localhost:3000"}, {"origin": "http://[::1]:3000"}, {"sec_fetch_site": "same-origin"}],
    ids=str,
)
def test_the_local_bearer_opens_from_a_local_page(server: Server, headers: dict[str, str]) -> None:
    assert server.call(**headers).status == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "evil.example:80", "a b", "", "127.0.0.2"])
def test_an_unknown_host_is_refused_first(server: Server, host: str) -> None:
    answer = server.call("/api/v1/nothing", host=host, token=None)
    assert answer.status == 400
    if host != "a b":  # gunicorn may refuse that by itself
        assert code(answer) == "bad_host"


def test_an_http_1_0_request_without_a_host_is_answered(server: Server) -> None:
    with server.connect() as connection:
        connection.send(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert connection.answer().status == 200


# Bodies that are wrong on the wire


@pytest.mark.parametrize("sent", [b"", b"{}", b'{"limit": 1'])
def test_a_body_that_ends_too_early_is_refused(server: Server, sent: bytes) -> None:
    """Even where the part that came is good JSON, or nothing came at all: only a truly empty body counts as {}."""
    with server.connect() as connection:
        connection.send(request_bytes(body=sent, content_length="20"))
        connection.end_of_sending()
        answer = connection.answer()
    assert (answer.status, code(answer)) == (422, "invalid_input")
    assert json.loads(answer.body)["detail"][0]["type"] == "json_invalid"


def test_an_empty_post_is_an_empty_object(server: Server) -> None:
    for length in ("0", None):
        assert server.call(body=b"", content_type=None, content_length=length).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"content_length": "-1"}, {"content_length": "+2"}, {"content_length": "2, 2"}, {"content_length": "two"},
        {"content_length": "\xb2"}, {"content_length": "9" * 5000},
        {"transfer_encoding": "chunked"}, {"transfer_encoding": "gzip", "content_length": None},
        {"content_length": None, "transfer_encoding": "chunked"},
    ],
    ids=lambda headers: str(headers)[:50],
)  # fmt: skip
def test_wrong_framing_is_the_callers_fault(server: Server, headers: dict[str, str | None]) -> None:
    with server.connect() as connection:
        connection.send(request_bytes(**headers))  # type: ignore[arg-type]
        connection.end_of_sending()
        line = connection.reader.readline()
    assert line == b"" or 400 <= int(line.split()[1]) < 500 or b" 501 " in line
    assert server.call().status == 200


def test_deep_json_does_not_hurt(server: Server) -> None:
    for body in (b"[" * 60_000, b'{"a":' * 10_000, b"[" * 10_000 + b"]" * 10_000):
        answer = server.call(body=body)
        assert (answer.status, code(answer)) == (422, "invalid_input")


def test_slow_senders_do_not_hold_up_others(server: Server) -> None:
    stalled = [server.connect() for _ in range(3)]
    stalled[0].send(request_bytes(body=b"{", content_length="2"))
    stalled[1].send(b"POST /api/v1/tools/list_apps HTTP/1.1\r\nHost: loc")
    try:
        assert all(server.call().status == 200 for _ in range(5))
        stalled[0].send(b"}")
        assert stalled[0].answer().status == 200
    finally:
        for connection in stalled:
            connection.__exit__(None, None, None)


def stall(server: Server, content: bytes) -> bytes:
    """Sends a part of a request and waits, until the server ends it. What the server said."""
    with server.connect() as connection:
        connection.send(content)
        return connection.reader.read()


@pytest.mark.soak
def test_more_slow_senders_than_threads_are_dropped_in_time(tmp_path: Path, data_dir: Path) -> None:
    """Nobody has longer for a request than gunicorn.conf.py's patience, which is shortened here."""
    config = tmp_path / "impatient.py"
    config.write_text(
        'exec(open("config/gunicorn.conf.py").read().replace("__file__", "\'config/x\'"))\nPATIENCE = 1\n'
    )
    with gunicorn(LOCAL | {"DATA_DIR": str(data_dir), "LOCAL_DEV_ORG": "acme"}, "-c", str(config)) as server:
        body, headers = request_bytes(body=b"{", content_length="2"), b"POST /api/v1/tools/list_apps HTTP/1.1\r\nHo"
        with ThreadPoolExecutor(8) as clients:
            stalled = [clients.submit(stall, server, content) for content in (body, headers) * 4]
            assert server.call().status == 200
            answers = {client.result()[:12] for client in stalled}
        assert answers == {b"HTTP/1.1 408"}


# What is told to whom


def test_a_request_id_is_kept_or_replaced(server: Server) -> None:
    assert server.call(x_request_id="Mine-1").headers["x-request-id"] == "Mine-1"
    for bad in ("", "a b", "a" * 65, "a_b", "é", "{}"):
        assert server.call(x_request_id=bad).headers["x-request-id"] not in ("", bad)


def test_the_access_log_has_no_credentials(server: Server) -> None:
    target = "/api/v1/tools/list_apps?access_token=hunter2"
    server.call(target, token="hunter3", x_request_id="look-for-me", cookie="session=hunter4")
    line = server.line(lambda line: "look-for-me" in line)
    assert "hunter" not in line
    said = json.loads(line)
    assert said["requestId"] == "look-for-me"
    assert (said["method"], said["path"], said["status"]) == ("POST", "/api/v1/tools/list_apps", 401)
    assert said["client"] == "127.0.0.1"
    assert said["durationMs"] >= 0


def test_the_access_log_names_the_organization(server: Server) -> None:
    server.call(x_request_id="look-for-the-organization")
    line = json.loads(server.line(lambda line: "look-for-the-organization" in line))
    assert line["organization"].startswith("org_")


def test_log_lines_are_json_whatever_the_path_is(server: Server) -> None:
    for number, path in enumerate(("/%ff%fe", "/%ed%a0%80", "/%0a%0d%00", "/%e9", "/%22%7b")):
        answer = server.call(f"/api/v1{path}", x_request_id=f"odd-path-{number}")
        assert (answer.status, json.loads(answer.body)["code"]) == (404, "not_found")
        json.loads(server.line(lambda line, number=number: f"odd-path-{number}" in line))  # type: ignore[misc]


# Preview


def bootstrap(preview: Server, **headers: str) -> Answer:
    usual = {"token": E2E, "host": "porthole.example.com", "x_forwarded_proto": "https"}
    return preview.call(**(usual | headers))


def test_the_bootstrap_secret_opens_in_preview(preview: Server) -> None:
    answer = bootstrap(preview, target="/api/v1/tools/get_account", x_forwarded_for="203.0.113.9")
    assert json.loads(answer.body)["organization"]["slug"] == "acme"


def test_the_bootstrap_secret_does_not_open_from_another_site(preview: Server) -> None:
    assert bootstrap(preview, origin="https://evil.example").status == 401
    assert bootstrap(preview, origin="http://localhost:3000").status == 401
    assert bootstrap(preview, origin="https://app.example.com").status == 200


def test_the_local_bearer_does_not_open_in_preview(preview: Server) -> None:
    assert bootstrap(preview, token="porthole-local-dev").status == 401


def test_a_trusted_proxy_is_believed_about_the_client(preview: Server) -> None:
    """Also where the socket is one for both families, and IPv4 peers come as ::ffff:127.0.0.1."""
    forwarded = "203.0.113.66, 203.0.113.9, 127.0.0.5"
    assert bootstrap(preview, x_forwarded_for=forwarded, x_request_id="who-was-it").status == 200
    assert json.loads(preview.line(lambda line: "who-was-it" in line))["client"] == "203.0.113.9"


def test_too_many_calls_have_to_wait(preview: Server) -> None:
    count = 250
    with preview.connect() as connection:
        connection.send(request_bytes(token=E2E, host="porthole.example.com", x_forwarded_proto="https") * count)
        answers = [connection.answer() for _ in range(count)]
    refused = [answer for answer in answers if answer.status == 429]
    assert {answer.status for answer in answers[:100]} == {200}
    assert code(refused[0]) == "rate_limited"
    assert int(refused[0].headers["retry-after"]) >= 1


# The end


def test_sigterm_ends_it_soon_and_in_good_order(data_dir: Path) -> None:
    env = LOCAL | {"DATA_DIR": str(data_dir), "LOCAL_DEV_ORG": "acme"}
    with gunicorn(env, "--graceful-timeout", "86400") as server:  # nothing but itself ends it
        with server.connect() as idle, server.connect() as busy:
            idle.send(request_bytes())
            assert idle.answer().status == 200
            busy.send(request_bytes(body=b"{", content_length="2"))
            assert server.call().status == 200
            server.process.send_signal(signal.SIGTERM)
            busy.send(b"}")
            assert busy.answer().status == 200
        assert server.process.wait(patience()) == 0
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", server.port), timeout=patience())
