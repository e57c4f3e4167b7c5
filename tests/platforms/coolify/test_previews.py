"""Previews, which only Coolify's MCP server lists, and only where somebody switched it on."""

import json

import pytest

from apps.platforms.connector import UpstreamError
from apps.platforms.snapshot.check import check
from tests.fakes.coolify import CoolifyFake
from tests.fakes.coolify_rows import CANARY, app_uuid
from tests.platforms.coolify.reading import read, snapshot_of


@pytest.fixture
def previewed(fake):
    fake.mcp = "on"
    fake.rows.add_preview(0, 12)
    fake.rows.finish(fake.rows.deploy(0, pull_request=12))
    return fake


@pytest.mark.parametrize("mcp", ["on", "stream"])
def test_previews_are_told_with_their_domains_and_deployments(previewed, connect, mcp):
    previewed.mcp = mcp
    state, details = read(connect(previewed, reads_previews=True))
    check(snapshot_of(state, details))
    detail = details[app_uuid(0)]
    (preview,) = detail.previews or ()
    assert (preview.key, preview.pull_request_number, preview.branch) == ("preview0x12", 12, "pull/12/head")
    assert (preview.url, preview.status, preview.pull_request_title) == (
        "https://12.app0.example.com/", "deployed", None,
    )  # fmt: skip
    assert preview.pull_request_url == "https://github.com/acme/shop/pull/12"
    assert [one.host for one in detail.domains or () if one.preview == preview.key] == ["12.app0.example.com"]
    assert [one.preview for one in detail.deployments or ()] == [preview.key, None]
    assert state.domains is None  # the lists do not have those of previews


def test_only_one_tool_that_reads_is_called_and_only_for_what_was_listed(previewed, connect):
    read(connect(previewed, reads_previews=True))
    assert {(one.method, one.path) for one in previewed.requests if one.method != "GET"} == {("POST", "/mcp")}
    assert sum(one.method == "POST" for one in previewed.requests) == 8  # the fake refuses other tools
    assert previewed.strangers() == []


def test_previews_are_not_asked_for_unless_that_is_switched_on(previewed, connect):
    _, details = read(connect(previewed))
    assert {one.method for one in previewed.requests} == {"GET"}
    assert details[app_uuid(0)].previews == ()
    assert [one.is_preview for one in details[app_uuid(0)].deployments or ()] == [True, False]


def test_releases_without_them_are_not_asked(connect):
    with CoolifyFake("4.2.0") as fake:
        state, details = read(connect(fake, reads_previews=True))
    assert {one.method for one in fake.requests} == {"GET"}
    assert details[app_uuid(0)].previews == ()
    assert state.domains is not None


@pytest.mark.parametrize("mcp", ["off", "team"])
def test_where_the_server_is_off_previews_are_unknown_and_what_is_stored_stays(previewed, connect, mcp):
    previewed.mcp = mcp
    state, details = read(connect(previewed, reads_previews=True))
    detail = details[app_uuid(0)]
    assert (detail.previews, detail.domains) == (None, None)
    assert detail.unread == {"previews", "domains"}
    assert [one.is_preview for one in detail.deployments or ()] == [False]
    assert state.domains is None


def test_a_preview_that_is_being_deployed_says_so(previewed, connect):
    uuid = previewed.rows.deploy(0, pull_request=12)
    connector = connect(previewed, reads_previews=True)
    state = connector.read_state()
    assert state.deployments == ()  # only the detail knows which preview it is of
    detail = connector.read_detail(state.apps[0])
    assert [one.status for one in detail.previews or ()] == ["deploying"]
    assert (detail.deployments or ())[0].key == uuid
    assert detail.app.status == "deployed"


def test_all_pages_are_read(fake, connect):
    fake.mcp = "on"
    for number in range(1, 251):
        fake.rows.add_preview(0, number)
    connector = connect(fake, reads_previews=True)
    detail = connector.read_detail(connector.read_state().apps[0])
    assert len(detail.previews or ()) == 250
    assert sum(one.path == "/mcp" for one in fake.requests) == 3


@pytest.mark.parametrize(
    "told",
    [
        {"error": {"code": -32601, "message": CANARY}},
        {"result": {"content": []}},
        {"result": {"content": [{"type": "text", "text": CANARY}]}},
        {"result": {"structuredContent": {"data": {"items": []}}}},
        [CANARY],
    ],
)
def test_an_answer_in_a_third_form_is_an_error_in_words(previewed, connect, monkeypatch, told):
    monkeypatch.setattr(previewed, "_mcp", lambda request, body: (200, told, {}))
    connector = connect(previewed, reads_previews=True)
    state = connector.read_state()
    with pytest.raises(UpstreamError, match="form that is not known") as caught:
        connector.read_detail(state.apps[0])
    assert CANARY not in str(caught.value)


def test_a_tool_that_refuses_leaves_previews_unknown(previewed, connect, monkeypatch):
    refusal = {"result": {"isError": True, "content": [{"type": "text", "text": CANARY}]}}
    monkeypatch.setattr(previewed, "_mcp", lambda request, body: (200, refusal, {}))
    _, details = read(connect(previewed, reads_previews=True))
    assert details[app_uuid(0)].previews is None


@pytest.mark.parametrize("shape", ["structured", "flat"])
def test_the_answer_may_be_beside_the_text_or_without_a_frame(previewed, connect, monkeypatch, shape):
    row = previewed.rows.previews[app_uuid(0)][0]
    flat = {"content": [{"type": "text", "text": json.dumps({"previews": [row]})}]}
    result = {"structuredContent": {"data": {"previews": [row]}}} if shape == "structured" else flat
    monkeypatch.setattr(previewed, "_mcp", lambda request, body: (200, {"result": result}, {}))
    connector = connect(previewed, reads_previews=True)
    assert len(connector.read_detail(connector.read_state().apps[0]).previews or ()) == 1
