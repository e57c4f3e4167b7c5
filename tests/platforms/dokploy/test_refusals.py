"""What goes wrong, in words that operators understand; and nothing of what was received is in them."""

import re
import threading
import time
import traceback

import pytest

from apps.net.http import Client
from apps.platforms.connector import UpstreamError
from apps.platforms.dokploy import DokployConnector
from tests.fakes.dokploy import CANARY
from tests.platforms.dokploy.conftest import connector_of


def refusal_of(connector):
    with pytest.raises(UpstreamError) as caught:
        connector.read_state()
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert CANARY not in told
    assert caught.value.__context__ is None
    assert len(caught.value.sentence) <= 300
    return caught.value


def test_a_bad_key_is_told_and_permanent(dokploy):
    refusal = refusal_of(connector_of(dokploy(), key="wrong"))
    assert "refused the key" in refusal.sentence
    assert refusal.is_permanent


def test_a_rate_limit_is_recognized_in_its_disguise(dokploy):
    fake = dokploy()
    fake.calls_left = 5
    connector = connector_of(fake)
    refusal = refusal_of(connector)
    assert "used up its calls" in refusal.sentence
    assert not refusal.is_permanent
    assert refusal.retry_after == 3600
    # Once it is used up, the first call of the next reading is refused as well.
    assert refusal_of(connector).is_permanent


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("error", "error of its own .500"), ("unavailable", "error of its own .503"), ("truncated", "broke off"),
        ("html", "not JSON"), ("busy", "fewer calls"), ("redirect", "leads to another"),
        ("foreign", "let this key see"),
        ("forbidden", "let this key see"), ("missing", "let this key see"), ("object", "form that is not known"),
        ("null", "form that is not known"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_in_words(dokploy, kind, words):
    fake = dokploy()
    fake.fail("project.all", kind)
    refusal = refusal_of(connector_of(fake))
    assert re.search(words, refusal.sentence)
    assert not any("169.254" in request.path for request in fake.requests)


@pytest.mark.parametrize(
    "procedure", ["gitProvider.getAll", "deployment.allCentralized", "overview.domains", "organization.all"]
)
@pytest.mark.parametrize("kind", ["error", "truncated", "object", "unauthorized"])
def test_half_a_state_is_none(dokploy, procedure, kind):
    fake = dokploy()
    fake.fail(procedure, kind)
    refusal_of(connector_of(fake))


def test_a_dokploy_that_hangs_is_given_up(dokploy):
    fake = dokploy()
    fake.fail("project.all", "hang")
    began = time.monotonic()
    assert "in time" in refusal_of(connector_of(fake, timeout=0.3)).sentence
    assert time.monotonic() - began < 3


def test_an_answer_that_is_too_large_is_given_up(dokploy, monkeypatch):
    fake = dokploy()
    fake.fail("project.all", "huge")
    connector = connector_of(fake)
    monkeypatch.setattr(connector._api._client, "_max_bytes", 2**20)
    assert "too large" in refusal_of(connector).sentence


def test_a_dokploy_that_is_not_there_is_told(dokploy):
    fake = dokploy()
    nobody = DokployConnector("http://127.0.0.1:1", fake.key)
    assert "Nothing accepts" in refusal_of(nobody).sentence
    with pytest.raises(UpstreamError, match="may not be reached") as refusal:
        DokployConnector("ftp://example.com", fake.key)
    assert refusal.value.is_permanent


def test_details_are_read_from_several_threads(dokploy):
    fake = dokploy(applications=12, delay=0.005)
    connector = connector_of(fake)
    apps = connector.read_state().apps
    found = []

    def read(some):
        found.extend(connector.read_detail(app).app.key for app in some)

    threads = [threading.Thread(target=read, args=(apps[number::4],)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(app.key for app in apps)
    assert connector.calls == len(fake.requests)


def test_the_key_is_shown_nowhere(dokploy):
    connector = connector_of(dokploy())
    assert CANARY not in repr(connector) + repr(vars(connector)) + repr(connector._api._client)
    assert isinstance(connector._api._client, Client)
    with pytest.raises(ValueError, match="x-api-key") as refusal:
        DokployConnector("http://127.0.0.1:1", f"{CANARY}\r\nX-Other: 1")
    assert CANARY not in str(refusal.value)


def test_a_limit_of_calls_in_a_minute_is_told_as_what_it_is(dokploy):
    fake = dokploy()
    fake.minute.limit = 3
    assert "used up its calls" in refusal_of(connector_of(fake)).sentence
    assert (fake.minute.most, fake.minute.refused) == (3, 1)
