"""What programs may post: forms and JSON, bounded, readable in one way; everything else is a clean refusal."""

import io
import json
from typing import Any

import pytest

from apps.oauthmcp.models import Application
from apps.orgs.models import Membership
from tests.factories import Fill
from tests.oauthmcp.grants import VERIFIER, make_client, make_code, make_member
from tests.oauthmcp.programs import FORM, refusal, send

INVALID = (400, "invalid_request")
JSON = "application/json"
BOTH = pytest.mark.parametrize("path", ["token", "revoke"])


@pytest.fixture
def member(acme: Fill) -> Membership:
    return make_member(acme.organization)


@pytest.fixture
def client(db: None) -> Application:
    return make_client()


def a_request(client: Application, member: Membership) -> dict[str, Any]:
    """Good at both endpoints."""
    return {
        "grant_type": "authorization_code",
        "client_id": client.client_id,
        "code": make_code(client, member),
        "code_verifier": VERIFIER,
        "token": "made-up",
    }


@BOTH
@pytest.mark.parametrize("content_type", [FORM, f"{FORM}; charset=UTF-8", JSON, "Application/JSON; charset=utf-8"])
def test_a_form_or_json_is_read(client: Application, member: Membership, path: str, content_type: str) -> None:
    fields = a_request(client, member)
    body = json.dumps(fields) if "json" in content_type.lower() else fields
    assert send(path, body, content_type).status_code == 200


@BOTH
@pytest.mark.spec("RFC 6749 §3.2")
def test_an_empty_or_null_value_is_as_good_as_none(client: Application, member: Membership, path: str) -> None:
    nothing = {"redirect_uri": "", "client_secret": "", "scope": "", "resource": "", "token_type_hint": ""}
    assert send(path, a_request(client, member) | nothing).status_code == 200
    nulls = dict.fromkeys(nothing)
    assert send(path, a_request(client, member) | nulls, JSON).status_code == 200


@BOTH
@pytest.mark.spec("RFC 6749 §3.2")
@pytest.mark.parametrize("name", ["client_id", "grant_type", "code", "token", "scope", "unknown", "client_secret"])
def test_no_parameter_may_come_twice(client: Application, member: Membership, path: str, name: str) -> None:
    twice = f"{name}=x&{name}=x"
    assert refusal(send(path, twice)) == INVALID
    assert refusal(send(path, f'{{"{name}": "x", "{name}": "x"}}', JSON)) == INVALID


@BOTH
@pytest.mark.spec("RFC 6749 §2.3.1")
def test_parameters_in_the_query_are_refused(client: Application, member: Membership, path: str) -> None:
    fields = a_request(client, member)
    assert refusal(send(path, fields, QUERY_STRING=f"client_id={client.client_id}")) == INVALID
    assert refusal(send(path, {}, QUERY_STRING="grant_type=authorization_code&token=x")) == INVALID


@BOTH
@pytest.mark.parametrize("name", ["client_id", "grant_type", "code", "code_verifier", "token", "scope", "x\0y"])
def test_nul_is_refused(client: Application, member: Membership, path: str, name: str) -> None:
    fields = a_request(client, member) | {name: "a\0b"}
    assert refusal(send(path, fields)) == INVALID
    assert refusal(send(path, fields, JSON)) == INVALID


@BOTH
@pytest.mark.parametrize("name", ["client_id", "grant_type", "code", "code_verifier", "redirect_uri", "token", "x"])
def test_a_value_that_is_too_long_is_refused(client: Application, member: Membership, path: str, name: str) -> None:
    fields = a_request(client, member) | {name: "x" * 4097}
    assert refusal(send(path, fields)) == INVALID
    assert refusal(send(path, fields, JSON)) == INVALID


@BOTH
@pytest.mark.parametrize("name", ["client_id", "grant_type", "code", "code_verifier", "refresh_token", "token", "x"])
@pytest.mark.parametrize("value", [7, 1.5, True, [], ["x"], {}, {"a": {"b": []}}, 10**400])
def test_json_values_must_be_strings(client: Application, member: Membership, path: str, name: str, value: Any) -> None:
    assert refusal(send(path, a_request(client, member) | {name: value}, JSON)) == INVALID


@BOTH
@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"null", b"7", b"[]", b'"text"', b"[" * 9000, b'{"a":' * 2000, b'{"x": NaN}', b'{"x": 1e999}'),
        *(b'{"code": "\\ud800"}', b'{"code": "\\u0000"}', b'{"code": "\xff"}', b'{"x": ' + b"9" * 9000 + b"}"),
        *(b'{"\\ud800": "x"}', b"\xef\xbb\xbf{}", b"{}{}"),
    ],
)
def test_bad_json_is_refused(db: None, path: str, body: bytes) -> None:
    assert refusal(send(path, body, JSON)) == INVALID


@BOTH
@pytest.mark.parametrize(
    "body", [b"code=%ff", b"code=%ed%a0%80", b"code=\xc3\xa4", b"code=%00", b"%00=x", b"&".join([b"a=b"] * 60)]
)
def test_a_bad_form_is_refused(db: None, path: str, body: bytes) -> None:
    assert refusal(send(path, body)) == INVALID


@BOTH
@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "multipart/form-data; boundary=x", "application/xml", "\xff"]
)
def test_another_content_type_is_refused(client: Application, member: Membership, path: str, content_type: str) -> None:
    fields = a_request(client, member)
    body = "&".join(f"{name}={value}" for name, value in fields.items())
    assert refusal(send(path, body, content_type)) == INVALID


@BOTH
def test_a_body_that_is_too_large_is_413(db: None, path: str) -> None:
    assert refusal(send(path, b"x" * (16 * 1024 + 1))) == (413, "invalid_request")
    assert refusal(send(path, b"x", CONTENT_LENGTH="99999999999")) == (413, "invalid_request")


@BOTH
@pytest.mark.parametrize("length", ["x", "-1", "1e3", "٣", "9" * 13])
def test_a_length_that_is_no_number_is_refused(db: None, path: str, length: str) -> None:
    assert refusal(send(path, b"code=x", CONTENT_LENGTH=length)) == INVALID


@BOTH
def test_a_body_that_ends_too_early_is_refused(db: None, path: str) -> None:
    assert refusal(send(path, b"", CONTENT_LENGTH="500", **{"wsgi.input": io.BytesIO(b"code=x")})) == INVALID


@BOTH
def test_a_chunked_body_is_411(db: None, path: str) -> None:
    assert refusal(send(path, b"code=x", headers={"transfer-encoding": "chunked"})) == (411, "invalid_request")


@BOTH
@pytest.mark.spec("RFC 6749 §5.2")
def test_a_description_has_none_of_the_characters_that_the_rfc_forbids(db: None, path: str) -> None:
    for body in ({'q"u\\o\nte': 7}, {"Ä\u2028": []}):
        description = send(path, body, JSON).json()["error_description"]
        assert not set(description) & set('"\\\n\u2028Ä')


@BOTH
@pytest.mark.spec("RFC 8707 §2")
def test_several_resources_may_be_named(client: Application, member: Membership, path: str) -> None:
    doors = ["http://localhost:8000/mcp", "http://localhost:8000"]
    assert send(path, a_request(client, member) | {"resource": doors}, JSON).status_code == 200
    assert refusal(send(path, a_request(client, member) | {"resource": [7]}, JSON)) == INVALID
