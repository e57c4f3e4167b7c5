"""Which client is asking, at both endpoints: by id, by Basic, in the body; and who is refused."""

import base64
from typing import Any

import pytest

from apps.oauthmcp.models import Application, Authorization
from apps.orgs.models import Membership
from tests.factories import Fill
from tests.oauthmcp.grants import make_authorization, make_client, make_code, make_member, make_refresh_token
from tests.oauthmcp.programs import ask, basic, redeem, refresh, refusal, revoke

SECRET = "s3cret-ß-with:all+kinds of/characters%20"
NO_CLIENT = (401, "invalid_client")
CHALLENGE = 'Basic realm="Porthole", charset="UTF-8"'


@pytest.fixture
def member(acme: Fill) -> Membership:
    return make_member(acme.organization)


@pytest.fixture
def public(db: None) -> Application:
    return make_client()


@pytest.fixture
def confidential(db: None) -> Application:
    return make_client("Confidential", secret=SECRET)


def by_all_ways(client: Application, member: Membership, **more: Any) -> list[Any]:
    authorization = make_authorization(client, member)
    return [
        redeem(client, make_code(client, member), **more),
        refresh(client, make_refresh_token(authorization), **more),
        revoke(client, make_refresh_token(authorization), **more),
    ]


@pytest.mark.spec("RFC 6749 §2.3.1")
def test_a_public_client_says_its_id(public: Application, member: Membership) -> None:
    assert [answer.status_code for answer in by_all_ways(public, member)] == [200] * 3


@pytest.mark.spec("RFC 6749 §2.3.1")
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_confidential_client_shows_its_secret_either_way(
    confidential: Application, member: Membership, method: str
) -> None:
    confidential.token_endpoint_auth_method = method
    confidential.save()
    header = basic(confidential.client_id, SECRET)
    for more in ({"headers": header}, {"headers": header, "client_id": None}, {"client_secret": SECRET}):
        assert [answer.status_code for answer in by_all_ways(confidential, member, **more)] == [200] * 3


@pytest.mark.spec("RFC 7235 §2.1")
@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC", "bAsIc", "Basic  "])
def test_the_scheme_may_be_written_in_any_case(confidential: Application, member: Membership, scheme: str) -> None:
    header = basic(confidential.client_id, SECRET)["authorization"].replace("Basic", scheme)
    assert redeem(confidential, make_code(confidential, member), {"authorization": header}).status_code == 200


@pytest.mark.spec("RFC 6749 §5.2")
@pytest.mark.parametrize("secret", ["", "wrong", SECRET + "x", SECRET[:-1], "\0", "x" * 3000])
def test_a_wrong_secret_is_refused(confidential: Application, member: Membership, secret: str) -> None:
    for answer in by_all_ways(confidential, member, headers=basic(confidential.client_id, secret)):
        assert refusal(answer) == NO_CLIENT
        assert answer["WWW-Authenticate"] == CHALLENGE
    if "\0" not in secret:
        for answer in by_all_ways(confidential, member, client_secret=secret):
            assert refusal(answer) == NO_CLIENT
            assert "WWW-Authenticate" not in answer


@pytest.mark.spec("RFC 6749 §3.2.1")
def test_a_confidential_client_without_its_secret_is_refused(confidential: Application, member: Membership) -> None:
    assert [refusal(answer) for answer in by_all_ways(confidential, member)] == [NO_CLIENT] * 3


def test_a_confidential_client_that_has_no_secret_stored_lets_nobody_in(
    confidential: Application, member: Membership
) -> None:
    Application.objects.filter(pk=confidential.pk).update(client_secret="")
    for secret in ("", "x"):
        answers = by_all_ways(confidential, member, client_secret=secret)
        assert [refusal(answer) for answer in answers] == [NO_CLIENT] * 3


def test_the_stored_hash_is_not_the_secret(confidential: Application, member: Membership) -> None:
    answers = by_all_ways(confidential, member, client_secret=confidential.client_secret)
    assert [refusal(answer) for answer in answers] == [NO_CLIENT] * 3


@pytest.mark.spec("RFC 6749 §2.3")
def test_a_public_client_that_sends_a_secret_is_refused(public: Application, member: Membership) -> None:
    for more in ({"client_secret": "x"}, {"headers": basic(public.client_id, "x")}):
        assert [refusal(answer) for answer in by_all_ways(public, member, **more)] == [NO_CLIENT] * 3


@pytest.mark.spec("RFC 6749 §2.3.1")
def test_an_empty_secret_is_none(public: Application, member: Membership) -> None:
    for more in ({"client_secret": ""}, {"headers": basic(public.client_id, "")}):
        assert [answer.status_code for answer in by_all_ways(public, member, **more)] == [200] * 3


@pytest.mark.spec("RFC 6749 §2.3")
def test_a_secret_in_two_places_is_an_invalid_request(confidential: Application, member: Membership) -> None:
    answers = by_all_ways(confidential, member, headers=basic(confidential.client_id, SECRET), client_secret=SECRET)
    assert [refusal(answer) for answer in answers] == [(400, "invalid_request")] * 3


@pytest.mark.spec("RFC 6749 §2.3")
def test_two_clients_in_one_request_are_an_invalid_request(
    confidential: Application, public: Application, member: Membership
) -> None:
    answers = by_all_ways(public, member, headers=basic(confidential.client_id, SECRET))
    assert [refusal(answer) for answer in answers] == [(400, "invalid_request")] * 3


@pytest.mark.spec("RFC 6749 §5.2")
@pytest.mark.parametrize("client_id", ["nobody", "x" * 4096, "ÄÖ\u2028", "https://client.example/id", None])
def test_an_unknown_client_is_told_to_register_again(
    public: Application, member: Membership, client_id: str | None
) -> None:
    answers = by_all_ways(public, member, client_id=client_id)
    assert [refusal(answer) for answer in answers] == [NO_CLIENT] * 3
    if client_id:
        answers = by_all_ways(public, member, client_id=None, headers=basic(client_id[:1000], "x"))
        assert [refusal(answer) for answer in answers] == [NO_CLIENT] * 3


def encoded(pair: bytes) -> str:
    return base64.b64encode(pair).decode()


@pytest.mark.spec("RFC 7617 §2")
@pytest.mark.parametrize(
    "credentials",
    [
        *("", "*", "äöü", "a b", "YQ", "=" * 4000),
        *(encoded(pair) for pair in (b"no colon", b"\xff\xfe:x", b"%ff:x", b"x:%ff", b"\0:x", b"%00:x", b":", b":x")),
    ],
)
def test_an_unreadable_basic_header_is_refused(public: Application, member: Membership, credentials: str) -> None:
    header = {"authorization": f"Basic {credentials}".encode().decode("latin-1")}
    for answer in by_all_ways(public, member, headers=header, client_id=None):
        assert refusal(answer) == NO_CLIENT
        assert answer["WWW-Authenticate"] == CHALLENGE


@pytest.mark.parametrize("header", ["Bearer porthole_at_old", "Digest x", "Basically x", "Bearer", ""])
def test_other_schemes_prove_nothing_and_harm_nothing(
    public: Application, confidential: Application, member: Membership, header: str
) -> None:
    more = {"headers": {"authorization": header}}
    assert [answer.status_code for answer in by_all_ways(public, member, **more)] == [200] * 3
    assert [refusal(answer) for answer in by_all_ways(confidential, member, **more)] == [NO_CLIENT] * 3


def test_nothing_changes_for_who_is_refused(confidential: Application, member: Membership) -> None:
    authorization = make_authorization(confidential, member)
    token, code = make_refresh_token(authorization), make_code(confidential, member)
    redeem(confidential, code), refresh(confidential, token), revoke(confidential, token)
    assert Authorization.objects.active().count() == 1
    header = basic(confidential.client_id, SECRET)
    assert redeem(confidential, code, header).status_code == refresh(confidential, token, header).status_code == 200


def test_without_any_client_there_is_nobody_to_answer(db: None) -> None:
    assert refusal(ask("revoke", token="x")) == NO_CLIENT
    assert refusal(ask(grant_type="refresh_token", refresh_token="x")) == NO_CLIENT
