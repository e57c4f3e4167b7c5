"""Bodies that are wrong in every way: the caller is told with a 4xx, and never gets a 5xx."""

import json
from io import BytesIO
from typing import Any

import pytest

from apps.tools.base import ListTool
from apps.tools.registry import TOOLS
from tests.api import Api, check_answer
from tests.factories import Fill

KIB = 1024
NO_INPUT, ALL_OPTIONAL, NEEDS_AN_APP = "get_account", "list_apps", "list_files"
SEVERAL = pytest.mark.parametrize("tool", [NO_INPUT, ALL_OPTIONAL, NEEDS_AN_APP, "search_docs", "get_file"])
LISTS = [name for name, tool in TOOLS.items() if isinstance(tool, ListTool)]

NOT_JSON: dict[str, bytes] = {
    "a word": b"hello",
    "half an object": b'{"limit": 1',
    "single quotes": b"{'limit': 1}",
    "a trailing comma": b'{"limit": 1,}',
    "a comment": b'{"limit": 1} // one',
    "two objects": b"{}{}",
    "a form": b"limit=1",
    "spaces": b"   ",
    "line ends": b"\r\n\r\n",
    "NUL": b"\0",
    "an object and NUL": b"{}\0",
    "NaN": b'{"limit": NaN}',
    "Infinity": b'{"limit": Infinity}',
    "-Infinity": b'{"limit": -Infinity}',
    "1e400": b'{"limit": 1e400}',
    "-1e400": b'{"limit": -1e400}',
    "a leading zero": b'{"limit": 07}',
    "a leading plus": b'{"limit": +7}',
    "hexadecimal": b'{"limit": 0x7}',
    "an integer of 5,000 digits": b'{"limit": ' + b"7" * 5000 + b"}",
    "a negative integer of 5,000 digits": b'{"limit": -' + b"7" * 5000 + b"}",
    "the same key twice": b'{"limit": 1, "limit": 1}',
    "the same key twice, once escaped": b'{"limit": 1, "\\u006cimit": 2}',
    "the same key twice, deeper": b'{"a": [{"b": 1, "b": 2}]}',
    "a lone surrogate in a value": b'{"query": "\\ud800"}',
    "a lone low surrogate": b'{"query": "\\udc00x"}',
    "surrogates in the wrong order": b'{"query": "\\udc00\\ud800"}',
    "a lone surrogate in a key": b'{"\\ud800": 1}',
    "a lone surrogate in a list": b'{"a": [["\\udfff"]]}',
    "NUL in a value": b'{"query": "a\\u0000b"}',
    "NUL in a key": b'{"a\\u0000b": 1}',
    "a control character": b'{"query": "a\nb"}',
    "a bad escape": b'{"query": "\\x41"}',
    "10,000 lists": b"[" * 10_000 + b"]" * 10_000,
    "10,000 objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "10,000 lists in a key": b'{"query": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "60,000 opened lists": b"[" * 60_000,
    "40 lists": b'{"query": ' + b"[" * 40 + b"]" * 40 + b"}",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": "{}".encode("utf-16"),
    "UTF-16 without a mark": '{"limit": 1}'.encode("utf-16-le"),
    "UTF-32": "{}".encode("utf-32"),
    "Latin-1": '{"query": "é"}'.encode("latin-1"),
    "a surrogate in UTF-8": b'{"query": "\xed\xa0\x80"}',
    "an overlong slash": b'{"query": "\xc0\xaf"}',
    "a cut character": b'{"query": "\xe2\x82"}',
}
NOT_AN_OBJECT = {
    "null": b"null",
    "true": b"true",
    "7": b"7",
    "text": b'"{}"',
    "a list": b"[]",
    "a list of one": b"[{}]",
}


# The loops below have hundreds of rounds; a fixture for each would cost more than the calls.


@SEVERAL
def test_what_is_not_json_is_refused(api: Api, tool: str) -> None:
    for kind, body in NOT_JSON.items():
        assert problems(api.post(tool, body)) == [(["body"], "json_invalid")], kind


@SEVERAL
def test_what_is_not_an_object_is_refused(api: Api, tool: str) -> None:
    for kind, body in NOT_AN_OBJECT.items():
        assert problems(api.post(tool, body)) == [(["body"], "not_an_object")], kind


def problems(response: Any) -> list[tuple[list[str], str]]:
    """Where and of what type. Empty where nothing is wrong."""
    detail = response.json().get("detail", [])
    assert (response.status_code == 422) == bool(detail), response.content
    return [(problem["loc"], problem["type"]) for problem in detail]


@pytest.mark.parametrize("tool", [NO_INPUT, ALL_OPTIONAL])
@pytest.mark.parametrize("body", [b"", b"{}", b" {} \r\n", b"{\t}"], ids=repr)
def test_an_empty_body_and_an_empty_object_are_the_same(api: Api, tool: str, body: bytes) -> None:
    assert api.post(tool, body).status_code == 200


def test_an_empty_body_needs_no_type(api: Api) -> None:
    assert api.post(ALL_OPTIONAL, b"", content_type="").status_code == 200


def test_an_empty_body_lacks_what_is_required(api: Api) -> None:
    assert api.refused(NEEDS_AN_APP) == [("applicationId", "required")]
    assert api.post(NEEDS_AN_APP, b"").status_code == 422


# Types


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml",
        "application/json-patch+json", "application/vnd.api+json", "application/jsonx", "json", "*/*", "application/*",
        "text/json", ", application/json", "application/json, text/plain", "", "  ", "é",
    ],
)  # fmt: skip
def test_only_json_is_read(api: Api, content_type: str) -> None:
    response = api.post(ALL_OPTIONAL, content_type=content_type)
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json", "APPLICATION/JSON", "application/json;charset=utf-8", "application/json; charset=UTF-16",
        "application/json; charset=no-such", "application/json; charset=\"", "application/json;",
        "application/json ; x",
        "application/json; charset=utf-8; charset=utf-7", " application/json",
    ],
)  # fmt: skip
def test_parameters_of_the_type_do_not_matter(api: Api, acme: Fill, content_type: str) -> None:
    body = '{"query": "é"}'.encode()
    assert api.post(ALL_OPTIONAL, body, content_type=content_type).status_code == 200


# Sizes


@SEVERAL
def test_64_kib_are_read_and_one_byte_more_is_not(api: Api, tool: str) -> None:
    assert api.post(tool, b"{}".ljust(64 * KIB)).status_code in (200, 422)
    response = api.post(tool, b"{}".ljust(64 * KIB + 1))
    assert (response.status_code, response.json()["code"]) == (413, "too_large")  # type: ignore[attr-defined]


def test_the_length_is_believed_before_the_body_is_read(api: Api) -> None:
    for length in (str(64 * KIB + 1), "9" * 30, "9" * 4000):
        assert raw_post(api, b"", length).status_code == 413


@pytest.mark.parametrize("length", ["abc", "-1", "+2", "²", "٣", "1e3", " ", "9" * 5000])
def test_a_strange_length_is_none(api: Api, length: str) -> None:
    response = raw_post(api, b"{}", length)
    assert (response.status_code, response.json()["code"]) == (411, "length_required")


@pytest.mark.parametrize("body", [b"", b"{}"])
def test_a_body_shorter_than_its_length_is_refused(api: Api, body: bytes) -> None:
    assert problems(raw_post(api, body, "3")) == [(["body"], "json_invalid")]


def test_a_body_that_breaks_off_is_refused(api: Api) -> None:
    class Gone(BytesIO):
        def read(self, *_: Any) -> bytes:
            raise ConnectionResetError

    assert problems(raw_post(api, Gone(), "3")) == [(["body"], "json_invalid")]


def raw_post(api: Api, body: bytes | BytesIO, length: str) -> Any:
    """With a Content-Length that the test client would not make."""
    stream = body if isinstance(body, BytesIO) else BytesIO(body)
    extra: dict[str, Any] = {"wsgi.input": stream, "CONTENT_LENGTH": length}
    response = api.client.generic(
        "POST", "/api/v1/tools/list_apps", b"{}", "application/json",
        headers={"authorization": f"Bearer {api.bearer}"}, **extra,
    )  # fmt: skip
    check_answer("list_apps", response.status_code, response.json(), response.headers)
    return response


# Inputs


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_unknown_keys_are_refused_by_every_tool(api: Api, tool: str) -> None:
    assert ("surprise", "unknown_key") in api.refused(tool, surprise=1)


def test_python_names_of_inputs_are_unknown(api: Api, acme: Fill) -> None:
    assert ("application_id", "unknown_key") in api.refused(NEEDS_AN_APP, application_id=acme.app.id)


@pytest.mark.parametrize("name", ["non_field_errors", "", "__proto__", "é" * 10, "a.b", "a[0]"])
def test_an_unknown_key_is_named(api: Api, name: str) -> None:
    response = api.post(ALL_OPTIONAL, {name: 1})
    assert [problem["loc"] for problem in response.json()["detail"]] == [["body", name]]  # type: ignore[attr-defined]


def test_a_very_long_unknown_key_is_not_repeated_whole(api: Api) -> None:
    response = api.post(ALL_OPTIONAL, {"k" * 60_000: 1})
    assert response.status_code == 422
    assert len(response.content) < KIB


def test_thousands_of_unknown_keys_get_a_short_answer(api: Api) -> None:
    body = json.dumps({f"k{number}": 1 for number in range(5000)}, separators=(",", ":")).encode()
    response = api.post(ALL_OPTIONAL, body)
    assert response.status_code == 422
    assert len(response.content) < 8 * KIB


WRONG: list[Any] = [
    None, True, False, [], {}, [1], {"a": 1}, 7.5, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**4000, 1e300, "",
    "7" * 9000,
]  # fmt: skip
# What is right here and there: an offset and a line may be large, a query and a path empty; any version is another one.
RIGHT = {
    ("offset", 2**31), ("startLine", 2**31), ("offset", 2**53 + 1), ("query", ""), ("path", ""), ("branch", ""),
    ("ifVersion", ""),
}  # fmt: skip


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_a_value_of_the_wrong_kind_is_refused(api: Api, acme: Fill, tool: str) -> None:
    known = {"applicationId": acme.app.id, "query": "x", "path": "x"}
    needed = {name: value for name, value in known.items() if name in TOOLS[tool].input.fields}
    for name in TOOLS[tool].input.fields:
        for value in WRONG:
            response = api.post(tool, needed | {name: value})
            assert response.status_code < 500
            is_right = isinstance(value, str | int) and (name, value) in RIGHT
            assert is_right or ["body", name] in [location for location, _ in problems(response)], (name, value)


@pytest.mark.parametrize("value", ["7", True, False, None, 7.5, [7], "", 0, -1, 101, 2**63, 1e300, 10**4000])
def test_a_limit_is_a_json_integer_in_its_bounds(api: Api, value: Any) -> None:
    assert [field for field, _ in api.refused(ALL_OPTIONAL, limit=value)] == ["limit"]


@pytest.mark.parametrize("value", [1, 100, 7.0, 1e2])
def test_an_integer_may_be_written_with_a_fraction_of_zero(api: Api, value: float) -> None:
    assert api.post(ALL_OPTIONAL, {"limit": value}).status_code == 200


@pytest.mark.parametrize("tool", LISTS)
def test_the_largest_limit_is_taken_and_one_more_is_not(api: Api, acme: Fill, tool: str) -> None:
    maximum = TOOLS[tool].max_limit  # type: ignore[attr-defined]
    data = {"applicationId": acme.app.id} if "applicationId" in TOOLS[tool].input.fields else {}
    assert api.refused(tool, **data, limit=maximum + 1) == [("limit", "max_value")]
    assert api.post(tool, data | {"limit": maximum}).status_code in (
        (200,) if tool != "list_files" else (200, 422, 503)
    )


IDS = [
    "",
    " ",
    "app_",
    "app_x",
    "APP_" + "0" * 26,
    "app_" + "0" * 27,
    "app_" + "i" * 26,
    "' OR 1=1 --",
    "../..",
    "é",
    "%",
]


@pytest.mark.parametrize("id", [*IDS, "x" * 200])
def test_a_malformed_id_names_nothing(api: Api, id: str) -> None:
    ((field, kind),) = api.refused(NEEDS_AN_APP, applicationId=id)
    assert field == "applicationId"
    assert kind in (("blank", "min_length") if id == "" else ("not_found",))


def test_ids_of_another_kind_name_nothing(api: Api, acme: Fill) -> None:
    for id in (acme.project.id, acme.organization.id, acme.app.id.upper(), f" {acme.app.id}", f"{acme.app.id}\n"):
        assert api.refused(NEEDS_AN_APP, applicationId=id) == [("applicationId", "not_found")]


def test_another_organizations_ids_and_ids_of_nothing_get_the_same_answer(api: Api, acme: Fill, rival: Fill) -> None:
    nothing = "0" * 26
    for field, theirs, tool, rest in (
        ("applicationId", rival.app.id, NEEDS_AN_APP, {}),
        ("projectId", rival.project.id, ALL_OPTIONAL, {}),
        ("environmentId", rival.environment.id, ALL_OPTIONAL, {}),
        ("previewId", rival.preview.id, "list_deployments", {"applicationId": acme.app.id}),
    ):
        said = [
            api.post(tool, rest | {field: id}).json()["detail"]  # type: ignore[attr-defined]
            for id in (theirs, f"{theirs[:4]}{nothing}")
        ]
        assert said[0] == said[1] == [{"loc": ["body", field], "msg": said[0][0]["msg"], "type": "not_found"}]


BAD_TIMES = [
    "2026-01-31", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-01-31T12:00Z", "2026-02-30T12:00:00Z",
    "2026-13-01T12:00:00Z", "2026-01-31T24:00:01Z", "2026-01-31T12:00:60Z", "2026-01-31T12:00:00+0100",
    "2026-01-31T12:00:00+25:00", "2026-01-31T12:00:00+01:99", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-W05-6T12:00:00Z", "٢٠٢٦-01-31T12:00:00Z",
    "2026-01-31T12:00:00Z\n", " 2026-01-31T12:00:00Z", "2026-01-31T12:00:00.Z", "now", "1767225600", "",
    "2026-01-31T12:00:00." + "1" * 10 + "Z", 1767225600, None, True, {}, "2026-01-31T12:00:00Z" * 1000,
]  # fmt: skip


@pytest.mark.parametrize("field", ["since", "until"])
def test_times_need_a_whole_date_and_an_offset(api: Api, acme: Fill, field: str) -> None:
    for value in BAD_TIMES:
        response = api.post("list_deployments", {"applicationId": acme.app.id, field: value})
        assert [location for location, _ in problems(response)] == [["body", field]], value


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-31T12:00:00Z", "2026-01-31t12:00:00z", "2026-01-31T12:00:00.1Z", "2026-01-31T12:00:00.123456789+05:30",
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2026-01-31T12:00:00-00:00", "0001-01-01T00:00:00-14:00",
    ],
)  # fmt: skip
def test_times_of_every_allowed_spelling_are_read(api: Api, acme: Fill, value: str) -> None:
    for field in ("since", "until"):
        assert api.post("list_deployments", {"applicationId": acme.app.id, field: value}).status_code == 200


@pytest.mark.parametrize(
    "query", ["\x7f", "\u202e", "\ufeff", "\U0010ffff", "\ufdd0", "😀" * 200, "\r\n\t", "'", '"', ";--"]
)
def test_strange_text_is_only_text(api: Api, query: str) -> None:
    assert api(ALL_OPTIONAL, query=query)["items"] == []


def test_text_of_one_character_too_many_is_refused(api: Api) -> None:
    assert api(ALL_OPTIONAL, query="😀" * 200)["items"] == []
    assert api.refused(ALL_OPTIONAL, query="😀" * 201) == [("query", "max_length")]


def test_several_problems_are_told_at_once(api: Api) -> None:
    told = api.refused(NEEDS_AN_APP, limit="7", status="x", surprise=1)
    assert sorted(field or "" for field, _ in told) == ["applicationId", "limit", "status", "surprise"]
