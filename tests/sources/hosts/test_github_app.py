"""GitHub Apps: who they say they are, the tokens that are minted with that, and when a new one is."""

import logging
import threading
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as elliptic_key
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from apps.sources.hosts import github_app, minted
from apps.sources.hosts.credentials import Credentials
from apps.sources.hosts.github_app import forget
from apps.sources.hosts.host import Account, HostError
from tests.fakes.git_hosts import CANARY, FAILURES, REPOSITORIES, basic
from tests.fakes.github import READ_ONLY, key, pem
from tests.sources.hosts.test_refusals import told_of


class Clock:
    def __init__(self):
        self.now = datetime(2027, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch, github):
    clock = Clock()
    monkeypatch.setattr(minted, "now", clock)
    monkeypatch.setattr(github, "now", clock)
    return clock


def test_an_app_says_who_it_is(github, connect, app, clock):
    host = connect(github, **app)
    assert host.authorization() == basic("x-access-token", github.minted[0])
    at = int(clock.now.timestamp())
    assert github.claims == [{"iat": at - 60, "exp": at + 540, "iss": github.app_id}]
    assert github.sent[0][:2] == ("POST", "/api/v3/app/installations/4711/access_tokens")


def test_an_account_of_an_app(github, connect, app):
    account = connect(github, **app).account()
    assert account == Account("acme", tuple(REPOSITORIES[:10]), True, False, None)
    assert github.sent_to("/installation/repositories") == [f"Bearer {github.minted[0]}"]
    github.permissions["issues"] = "write"
    assert connect(github, **app).account().can_write is True
    assert len(github.minted) == 1


def test_a_token_is_asked_to_read_and_no_more(github, connect, app, monkeypatch):
    bodies = []
    mint = github._mint
    monkeypatch.setattr(github, "_mint", lambda body: bodies.append(body) or mint(body))
    connect(github, **app).authorization()
    assert bodies == [{"permissions": READ_ONLY}]


def test_a_token_is_minted_anew_five_minutes_before_it_expires(github, connect, app, clock):
    host = connect(github, **app)
    first = host.authorization()
    clock.now += timedelta(minutes=54, seconds=59)
    assert connect(github, **app).authorization() == first
    clock.now += timedelta(seconds=1)
    assert host.authorization() == basic("x-access-token", github.minted[1]) != first
    assert len(github_app.tokens._tokens) == 1


def test_a_token_is_not_kept_for_longer_than_an_hour_whatever_is_told(github, connect, app, clock):
    github.life = timedelta(days=3650)
    connect(github, **app).authorization()
    clock.now += timedelta(minutes=55)
    connect(github, **app).authorization()
    assert len(github.minted) == 2


def test_tokens_of_others_are_dropped_when_they_have_expired(github, connect, app, clock):
    connect(github, **app).authorization()
    clock.now += timedelta(hours=1)
    github.installation_id = "4712"
    connect(github, **app | {"installation_id": "4712"}).authorization()
    assert len(github_app.tokens._tokens) == 1


def test_each_app_key_installation_and_host_has_its_own(github, connect, app):
    given = Credentials(**app)
    others = [
        ("https://a", given),
        ("https://b", given),
        ("https://a", Credentials(**app | {"app_id": "1"})),
        ("https://a", Credentials(**app | {"installation_id": "1"})),
        ("https://a", Credentials(**app | {"secret": "other"})),
    ]
    keys = [github_app._key(*other) for other in others]
    assert len(set(keys)) == 5
    assert app["secret"] not in str(keys)


def test_two_threads_mint_once(github, connect, app):
    github.slow = 0.1
    found, both = [], threading.Barrier(2)

    def ask():
        both.wait()
        found.append(connect(github, **app).authorization())

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(github.minted) == 1
    assert set(found) == {basic("x-access-token", github.minted[0])}


def test_what_failed_is_tried_again(github, connect, app):
    github.is_suspended = True
    with pytest.raises(HostError, match="suspended"):
        connect(github, **app).authorization()
    github.is_suspended = False
    assert connect(github, **app).authorization()


def test_a_token_that_git_was_refused_with_is_forgotten(github, connect, app):
    host = connect(github, **app)
    host.authorization()
    host.forget()
    assert host.authorization() == basic("x-access-token", github.minted[1])
    forget(github.url, Credentials(**app))
    forget(github.url, Credentials(**app))
    assert host.authorization() == basic("x-access-token", github.minted[2])


def test_a_token_that_the_api_refuses_is_minted_anew_once(github, connect, app):
    host = connect(github, **app)
    host.account()
    github.revoke()
    github.renamed["old/name"] = "acme/app-03"
    assert host.current_name("old/name") == "acme/app-03"
    assert len(github.minted) == 2
    github.fail("/repos/.*", "unauthorized")
    with pytest.raises(HostError, match="answered 401"):
        host.current_name("old/name")
    assert len(github.minted) == 3


def test_an_app_without_the_permission_is_told_which(github, connect, app):
    del github.permissions["contents"]
    for ask in (connect(github, **app).account, connect(github, **app).authorization):
        with pytest.raises(HostError, match=r"answered 422: .* permission to read contents.* Contents: Read-only"):
            ask()


def test_an_installation_that_is_not_there(github, connect, app):
    host = connect(github, **app | {"installation_id": "1"})
    for ask in (host.account, host.authorization):
        with pytest.raises(HostError, match="no installation with this id"):
            ask()


def test_an_app_that_is_another_is_refused(github, connect, app, caplog):
    caplog.set_level(logging.DEBUG)
    other = pem(generate_private_key(public_exponent=65537, key_size=2048))
    for changed in ({"app_id": "Iv23other"}, {"secret": other}):
        with pytest.raises(HostError, match="the app's id or private key is not valid") as caught:
            connect(github, **app | changed).account()
        told = told_of(caught, caplog)
        for secret in (other.splitlines()[1], github.private_key.splitlines()[1], "eyJ"):
            assert secret not in told


def test_a_clock_that_is_wrong_is_noticed_there(github, connect, app, clock, monkeypatch):
    monkeypatch.setattr(minted, "now", lambda: clock.now - timedelta(minutes=20))
    with pytest.raises(HostError, match="not valid or has expired"):
        connect(github, **app).authorization()


def encrypted(key):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")).decode()


@pytest.mark.parametrize(
    "secret", ["k3y", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", "elliptic", "encrypted"]
)
def test_a_key_that_is_none_is_told(github, connect, app, secret, caplog):
    made = {"elliptic": lambda: pem(elliptic_key(SECP256R1())), "encrypted": lambda: encrypted(key())}
    text = made[secret]() if secret in made else secret
    with pytest.raises(HostError, match="must be an RSA key in PEM") as caught:
        connect(github, **app | {"secret": text}).authorization()
    assert text not in told_of(caught, caplog)
    assert github.sent == []


@pytest.mark.parametrize(
    "row",
    [
        {"token": None}, {"token": ""}, {"token": "a\nb"}, {"token": "a b"}, {"token": "ü"}, {"token": "a" * 5000},
        {"expires_at": None}, {"expires_at": "soon"}, {"expires_at": 7},
    ],
)  # fmt: skip
def test_a_token_that_cannot_be_used_is_not(github, connect, app, row, caplog):
    github.minted_row = {"token": CANARY} | row
    with pytest.raises(HostError, match="installation's token in a form that is not known") as caught:
        connect(github, **app).authorization()
    assert CANARY not in told_of(caught, caplog)
    assert github_app.tokens._tokens == {}


@pytest.mark.parametrize("kind", sorted(set(FAILURES) - {"unprocessable"}))
@pytest.mark.parametrize("path", ["", "/access_tokens"])
def test_whatever_goes_wrong_is_told_in_words(github, connect, app, kind, path, caplog):
    caplog.set_level(logging.DEBUG)
    github.fail(f"/app/installations/4711{path}", kind)
    with pytest.raises(HostError) as caught:
        connect(github, **app).account()
    assert len(str(caught.value)) <= 300
    told = told_of(caught, caplog)
    for secret in (github.private_key.splitlines()[1], "eyJ", "ghs_"):
        assert secret not in told
    assert CANARY not in told_of(caught, caplog, with_variables=False)


def test_nothing_shows_a_key_or_a_token(github, connect, app):
    host = connect(github, **app)
    host.authorization()
    shown = repr(host) + repr(host.credentials) + repr(github_app.tokens._tokens)
    assert github.private_key.splitlines()[1] not in shown
    assert github.minted[0] not in shown
