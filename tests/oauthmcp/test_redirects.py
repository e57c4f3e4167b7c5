"""Where a user may be sent back to: a table of what is allowed, and of what attackers and sloppy clients try."""

import re

import pytest

from apps.oauthmcp.models import DOCS_CLIENT, Application
from apps.oauthmcp.redirects import (
    Kind,
    NotAllowed,
    form_action_of,
    is_same,
    is_web_address,
    kind_of,
    recipient_of,
    split_target,
    target_of,
)  # fmt: skip

ALLOWED = [
    # uri, kind, shown to people, named in the Content-Security-Policy
    ("https://claude.ai/api/mcp/auth_callback", Kind.WEB, "claude.ai", "https://claude.ai"),
    ("https://example.com", Kind.WEB, "example.com", "https://example.com"),
    ("https://example.com:8443/cb?a=b&c=%2F", Kind.WEB, "example.com:8443", "https://example.com:8443"),
    ("HTTPS://EXAMPLE.com/cb", Kind.WEB, "example.com", "https://example.com"),
    ("https://xn--bcher-kva.example/cb", Kind.WEB, "xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ("https://my_app.example.com/cb", Kind.WEB, "my_app.example.com", "https:"),
    ("https://example.com/;script-src'none'", Kind.WEB, "example.com", "https://example.com"),
    ("https://192.0.2.7/cb", Kind.WEB, "192.0.2.7", "https:"),
    ("https://[2001:db8::1]:8443/cb", Kind.WEB, "[2001:db8::1]:8443", "https:"),
    ("https://127.0.0.1.example.com/cb", Kind.WEB, "127.0.0.1.example.com", "https://127.0.0.1.example.com"),
    ("https://localhost.example.com/cb", Kind.WEB, "localhost.example.com", "https://localhost.example.com"),
    ("http://127.0.0.1/cb", Kind.LOOPBACK, "127.0.0.1", "http://127.0.0.1"),
    ("http://127.0.0.1:33418", Kind.LOOPBACK, "127.0.0.1:33418", "http://127.0.0.1:33418"),
    ("http://localhost:3000/oauth/callback", Kind.LOOPBACK, "localhost:3000", "http://localhost:3000"),
    ("HTTP://LOCALHOST/cb", Kind.LOOPBACK, "localhost", "http://localhost"),
    ("http://[::1]:3000/cb", Kind.LOOPBACK, "[::1]:3000", "http:"),
    ("https://localhost/cb", Kind.LOOPBACK, "localhost", "https://localhost"),
    ("https://app.localhost/cb", Kind.LOOPBACK, "app.localhost", "https://app.localhost"),
    ("https://127.8.8.8/cb", Kind.LOOPBACK, "127.8.8.8", "https:"),
    ("https://[::ffff:127.0.0.1]/cb", Kind.LOOPBACK, "[::ffff:127.0.0.1]", "https:"),
    ("https://[0:0:0:0:0:0:0:1]/cb", Kind.LOOPBACK, "[0:0:0:0:0:0:0:1]", "https:"),
    ("https://0.0.0.0/cb", Kind.LOOPBACK, "0.0.0.0", "https:"),
    ("com.example.app:/cb", Kind.PRIVATE, "com.example.app://", "com.example.app:"),
    ("com.example.app://cb;x'y", Kind.PRIVATE, "com.example.app://", "com.example.app:"),
    ("com.example:cb", Kind.PRIVATE, "com.example://", "com.example:"),
    ("com.googleusercontent.apps.1-a:/cb", Kind.PRIVATE, "com.googleusercontent.apps.1-a://",
     "com.googleusercontent.apps.1-a:"),
    ("cursor://anysphere.cursor-retrieval/oauth/user-x/callback", Kind.PRIVATE, "cursor://", "cursor:"),
    ("vscode://vscode.github-authentication/did-authenticate", Kind.PRIVATE, "vscode://", "vscode:"),
    ("VSCode-Insiders://x", Kind.PRIVATE, "vscode-insiders://", "vscode-insiders:"),
    ("claude://x/cb", Kind.PRIVATE, "claude://", "claude:"),
]  # fmt: skip

REFUSED = [
    "", " ", "x", "/cb", "//example.com/cb", "example.com/cb", "localhost:3000/cb", "https", "https:", "https:/", "https://",
    # no host
    "https:///x", "https:/x", "https:x", "https://:443/x", "https://?x", "http:///x", "http:localhost/x",
    # plain http, and what only looks like loopback
    "http://evil.example/cb", "http://localhost.evil.example/cb", "http://127.0.0.1.evil.example/cb",
    "http://localhost./cb", "http://127.0.0.1./cb", "http://127.1/cb", "http://2130706433/cb", "http://0x7f000001/cb",
    "http://0177.0.0.1/cb", "http://127.0.0.2/cb", "http://0.0.0.0/cb", "http://[::]/cb", "http://[::ffff:127.0.0.1]/cb",
    "http://[0:0:0:0:0:0:0:1]/cb", "http://app.localhost/cb", "http://[::1%25lo]/cb", "http://[::1].evil.example/cb",
    "http://[::1]evil.example/cb", "http://evil.example[::1]/cb", "http://127.0.0.1%2eevil.example/cb",
    # addresses that a browser reads as another host than people do
    "https://127.1/cb", "https://2130706433/cb", "https://0x7f.1/cb", "https://0x7f000001/cb", "https://017700000001/cb",
    "https://127.0.0.01/cb", "https://1.2.3.4.5/cb", "https://example.0x7f/cb", "https://256.1.1.1/cb",
    "https://[fe80::1%25eth0]/cb", "https://[fe80::1%eth0]/cb", "https://[v1.x]/cb", "https://[::1/cb", "https://::1/cb",
    "https://[:]/cb", "https://[1.2.3.4]/cb",
    # somebody else's host
    "https://good.example@evil.example/cb", "https://good.example:x@evil.example/", "https://@evil.example/cb",
    "https://good.example%40evil.example/cb", "https://good.example\\@evil.example/cb", "https:\\\\evil.example\\cb",
    "https://evil.example\\.good.example/cb", "https://good.example;evil.example/cb", "https://a,b.example/cb",
    "https://'x'.example/cb", "https://*.example.com/cb", "https://(x)/cb", "https://$x/cb", "https://a=b/cb",
    "https://exa mple.com/cb", "https://example.com /cb", " https://example.com/cb", "https://example.com/cb ",
    "https://example.com./cb", "https://.example.com/cb", "https://a..example.com/cb", "https://-a.example.com/cb",
    "https://a-.example.com/cb", f"https://{'a.' * 127}example/cb", "https://example.com%2f/cb",
    # not ASCII, and what browsers drop or turn into something else
    "https://bücher.example/cb", "https://ⓔxample.com/cb", "https://example.com/ü", "https://example。com/cb",
    "vſcode://x", "ıntent://x", "https://\u200bexample.com", "https://example.com/\u202e",
    "https://example.com/\tcb", "ht\ttps://example.com/cb", "https://exam\nple.com", "https://example.com/\r\nx: y",
    "https://example.com/cb\n", "\x01https://example.com/cb", "https://example.com/\x00", "https://example.com/\x7f",
    'https://example.com/"', "https://example.com/<x>", "https://example.com/{x}", "https://example.com/|",
    "https://example.com/^", "https://example.com/`", "https://example.com/%", "https://example.com/%2", "https://a.example/%zz",
    # ports
    "https://example.com:/cb", "https://example.com:x/cb", "https://example.com:-1/cb", "https://example.com:65536/cb",
    "https://example.com:999999/cb", "http://localhost:/cb", "http://localhost:+80/cb", "http://localhost:8_0/cb",
    # fragments
    "https://example.com/cb#", "https://example.com/cb#x", "com.example.app:/cb#x", "http://localhost/#",
    # schemes that browsers or systems act on, and ones that are nobody's
    "javascript:alert(1)", "JavaScript:alert(1)", "javascript://example.com/%0aalert(1)", "java\nscript:alert(1)",
    "data:text/html,x", "file:///etc/passwd", "blob:https://example.com/x", "about:blank", "view-source:https://example.com",
    "intent://x#Intent;end", "intent://x", "ms-msdt:/id", "ms-word:ofe", "search-ms:query=x", "ms-a.b:/x", "ms.-x:/x",
    "smb://evil.example/x", "mailto:a@example.com", "tel:1", "ftp://example.com/", "ws://localhost/", "filesystem:https://a/",
    "vbscript:x", "jar:https://a!/x", "chrome://settings", "x-apple.systempreferences:com.apple.preference", "steam://run/1",
    "urn:ietf:wg:oauth:2.0:oob", "unknown://x", "cursors://x", "xcursor://x", "cursor", "cursor:", "com.example.app:",
    ".example:/x", "com.:/x", "com..example:/x", "com.example.:/x", "-com.example:/x", "com.-example:/x",
    "1com.example:/x",     "com.example+app:/x", "cursor://me@evil/x", "cursor://[x", "com.example.app://me:pw@x/",
    "https://example.com/" + "x" * 2000,
]  # fmt: skip


@pytest.mark.spec("RFC 8252 §7")
@pytest.mark.parametrize(("uri", "kind", "target", "form_action"), ALLOWED, ids=[case[0] for case in ALLOWED])
def test_an_allowed_uri_is_known_for_what_it_is(uri: str, kind: Kind, target: str, form_action: str) -> None:
    assert kind_of(uri) is kind
    assert target_of(uri) == target
    assert form_action_of(uri) == form_action


@pytest.mark.parametrize("uri", [case[0] for case in ALLOWED])
def test_nothing_of_a_uri_can_end_a_directive_of_a_policy(uri: str) -> None:
    assert re.fullmatch(r"[a-z0-9.+:/-]+", form_action_of(uri))


@pytest.mark.spec("RFC 9700 §2.1")
@pytest.mark.parametrize("uri", REFUSED, ids=[ascii(uri)[:60] for uri in REFUSED])
def test_every_other_uri_is_refused_with_a_sentence(uri: str) -> None:
    with pytest.raises(NotAllowed) as refused:
        kind_of(uri)
    assert str(refused.value).endswith(".")
    for derive in (target_of, form_action_of):
        with pytest.raises(NotAllowed):
            derive(uri)
    assert not Application(redirect_uris=uri).redirect_uri_allowed(uri)


def test_the_longest_uri_has_2000_characters() -> None:
    start = "https://example.com/"
    assert kind_of(start + "x" * (2000 - len(start))) is Kind.WEB
    with pytest.raises(NotAllowed, match="2000"):
        kind_of(start + "x" * (2001 - len(start)))


@pytest.mark.spec("RFC 6749 §3.1.2")
def test_who_wrote_a_fragment_is_told_so() -> None:
    with pytest.raises(NotAllowed, match="fragment"):
        kind_of("https://example.com/#/callback")


def test_an_operator_can_add_schemes(settings: object) -> None:
    settings.REDIRECT_SCHEMES = ["steam"]  # type: ignore[attr-defined]
    assert kind_of("steam://run/1") is Kind.PRIVATE
    with pytest.raises(NotAllowed):
        kind_of("cursor://x")


LOOPBACKS = ["127.0.0.1", "[::1]", "localhost"]


@pytest.mark.spec("RFC 8252 §7.3")
@pytest.mark.parametrize("host", LOOPBACKS)
@pytest.mark.parametrize("registered", ["", ":0", ":3000", ":65535"])
@pytest.mark.parametrize("asked", ["", ":1", ":3000", ":54321"])
def test_at_loopback_any_port_will_do(host: str, registered: str, asked: str) -> None:
    client = Application(redirect_uris=f"http://{host}{registered}/cb?x=1 http://{host}{registered}")
    assert client.redirect_uri_allowed(f"http://{host}{asked}/cb?x=1")
    assert client.redirect_uri_allowed(f"http://{host}{asked}")


OTHERS = [
    ("http://localhost/cb", "http://127.0.0.1/cb"),
    ("http://127.0.0.1/cb", "http://[::1]/cb"),
    ("http://localhost/cb", "https://localhost/cb"),
    ("http://localhost/cb", "http://localhost/"),
    ("http://localhost/cb", "http://localhost/cb/"),
    ("http://localhost/cb", "http://localhost/cb?"),
    ("http://localhost/cb", "http://localhost/cb?x=1"),
    ("http://localhost/cb?x=1", "http://localhost/cb"),
    ("http://localhost/cb", "http://localhost/CB"),
    ("http://localhost/cb", "http://localhost/x/../cb"),
    ("http://localhost/cb", "http://localhost/%63b"),
    ("http://localhost/cb", "http://localhost:80.evil.example/cb"),
    ("http://localhost/cb", "http://localhost:80@evil.example/cb"),
    ("http://localhost/cb", "http://localhost:99999/cb"),
    ("http://localhost/cb?u=http://localhost:1/x", "http://localhost/cb?u=http://localhost:2/x"),
    ("https://localhost/cb", "https://localhost:3000/cb"),
    ("https://example.com/cb", "https://example.com:443/cb"),
    ("https://example.com:443/cb", "https://example.com/cb"),
    ("https://example.com/cb", "https://example.com:8443/cb"),
    ("https://example.com/cb", "https://EXAMPLE.com/cb"),
    ("https://example.com/cb", "HTTPS://example.com/cb"),
    ("https://example.com", "https://example.com/"),
    ("https://example.com/cb", "https://example.com/cb?x=1"),
    ("https://example.com/cb", "https://example.com/cb/../other"),
    ("https://example.com/cb", "https://example.com/cb;x"),
    ("https://example.com/cb", "https://www.example.com/cb"),
    ("https://example.com/cb?u=http://localhost:1", "https://example.com/cb?u=http://localhost:2"),
    ("com.example.app:/cb", "com.example.app:/other"),
    ("com.example.app:/cb", "com.example.app://cb"),
    ("com.example.app:/cb", "COM.example.app:/cb"),
    ("cursor://x/cb", "cursor://x:1/cb"),
    ("cursor://x/cb", "vscode://x/cb"),
]


@pytest.mark.spec("RFC 9700 §2.1")
@pytest.mark.parametrize(("registered", "asked"), OTHERS)
def test_all_else_must_match_exactly(registered: str, asked: str) -> None:
    client = Application(redirect_uris=f"https://first.example/ {registered}")
    assert client.redirect_uri_allowed(registered)
    assert not client.redirect_uri_allowed(asked)


def test_what_only_begins_like_a_loopback_address_has_no_port_to_spare() -> None:
    assert not is_same("http://localhost:80.evil.example/cb", "http://localhost.evil.example/cb")
    assert not is_same("http://127.0.0.1:8evil/cb", "http://127.0.0.1evil/cb")


def test_a_client_without_a_uri_is_sent_nowhere() -> None:
    assert not Application(redirect_uris="").redirect_uri_allowed("https://example.com/")
    assert Application(redirect_uris="").default_redirect_uri is None


def test_the_docs_client_moves_along_with_the_public_address(settings: object) -> None:
    settings.PUBLIC_URL = "https://porthole.example.com"  # type: ignore[attr-defined]
    client = Application(client_id=DOCS_CLIENT, redirect_uris="https://old.example/cb")
    assert client.redirect_uri_allowed("https://porthole.example.com/api/v1/docs/signed-in")
    assert not client.redirect_uri_allowed("https://old.example/cb")


@pytest.mark.parametrize("uri", ["https://example.com", "https://example.com/#/about", "HTTPS://example.com/?a#b"])
def test_a_web_address_may_have_a_fragment(uri: str) -> None:
    assert is_web_address(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "http://example.com", "http://localhost/", "javascript:alert(1)#https://", "data:,x", "com.example.app:/x",
        "cursor://x", "https://a@b.example", "https://example.com/#a#b", 'https://example.com/#"', "https://#x", "",
    ],
)  # fmt: skip
def test_nothing_else_is_a_web_address(uri: str) -> None:
    assert not is_web_address(uri)


@pytest.mark.parametrize(
    ("target", "front", "end"),
    [
        ("claude.ai", "", "claude.ai"),
        ("claude.ai.sign-in.example:8443", "claude.ai.", "sign-in.example:8443"),
        ("claude.ai.example.co.uk", "claude.ai.", "example.co.uk"),
        ("co.uk", "", "co.uk"),
        ("192.0.2.1:8443", "", "192.0.2.1:8443"),
        ("[2001:db8::1]:8443", "", "[2001:db8::1]:8443"),
        ("host", "", "host"),
    ],
)
def test_the_end_of_a_web_target_tells_whose_it_is(target: str, front: str, end: str) -> None:
    assert split_target(target) == (front, end)


def test_on_ones_own_machine_the_port_tells_nothing_and_a_host_called_like_it_is_another() -> None:
    local = recipient_of("http://127.0.0.1:1/cb")
    assert local == recipient_of("http://[::1]:2/other") == recipient_of("https://localhost/cb")
    assert recipient_of("https://loopback/cb") not in (local, recipient_of("https://loopback:444/cb"))
    assert recipient_of("http://evil.example/cb") is None
