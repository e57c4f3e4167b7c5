"""Many at once with the same code or the same token, each in a thread and on a connection of its own."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.oauthmcp.models import AccessToken, Application, Authorization, RefreshToken
from apps.oauthmcp.validator import Validator
from apps.orgs.models import Membership, Organization
from tests.oauthmcp.grants import make_authorization, make_client, make_code, make_member, make_refresh_token
from tests.oauthmcp.programs import redeem, refresh, refusal, revoke
from tests.patience import patience

MANY = 20
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("database_for_many")]


@pytest.fixture
def member() -> Membership:
    return make_member(Organization.objects.create(slug="acme", name="Acme"))


@pytest.fixture
def client(member: Membership) -> Application:
    return make_client()


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Their answers, in the same order. An error in a thread is one of the answers' too, so that it is seen."""
    answers: list[Any] = [None] * len(calls)
    barrier = threading.Barrier(len(calls), timeout=patience())

    def run(number: int) -> None:
        try:
            barrier.wait()
            answers[number] = calls[number]()
        except Exception as error:
            answers[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=patience())
    assert not [answer for answer in answers if answer is None or isinstance(answer, Exception)], answers
    return answers


@pytest.mark.spec("RFC 6749 §4.1.2")
def test_many_with_one_code_get_one_answer_and_nobody_is_signed_out(client: Application, member: Membership) -> None:
    code = make_code(client, member)
    answers = at_once(*[lambda: redeem(client, code)] * MANY)
    tokens = [answer.json() for answer in answers if answer.status_code == 200]
    assert len(tokens) == 1
    assert [refusal(a) for a in answers if a.status_code != 200] == [(400, "invalid_grant")] * (MANY - 1)
    assert Authorization.objects.active().count() == Authorization.objects.count() == AccessToken.objects.count() == 1
    assert refresh(client, tokens[0]["refresh_token"]).status_code == 200


@pytest.mark.spec("RFC 9700 §4.14.2")
def test_many_with_one_refresh_token_all_get_the_same_successor(client: Application, member: Membership) -> None:
    first = make_refresh_token(make_authorization(client, member))
    answers = at_once(*[lambda: refresh(client, first)] * MANY)
    assert [answer.status_code for answer in answers] == [200] * MANY
    assert len({answer.json()["access_token"] for answer in answers}) == AccessToken.objects.count() == MANY
    successors = {answer.json()["refresh_token"] for answer in answers}
    assert len(successors) == 1
    assert RefreshToken.objects.count() == 2
    assert Authorization.objects.active().exists()
    assert refresh(client, successors.pop()).status_code == 200


@pytest.mark.spec("RFC 9700 §4.14.2")
def test_a_chain_that_grows_while_others_try_again_ends_in_one_token(client: Application, member: Membership) -> None:
    first = make_refresh_token(make_authorization(client, member))
    second = refresh(client, first).json()["refresh_token"]
    answers = at_once(*[lambda: refresh(client, first), lambda: refresh(client, second)] * 5)
    assert [answer.status_code for answer in answers] == [200] * 10
    newest = RefreshToken.objects.get(revoked=None)
    given = {answer.json()["refresh_token"] for answer in answers}
    assert given <= {token for token in given if refresh(client, token).status_code == 200}
    assert RefreshToken.objects.filter(authorization=newest.authorization).count() >= 3
    assert Authorization.objects.active().exists()


@pytest.mark.spec("RFC 7009 §2")
def test_a_refresh_that_races_a_revocation_leaves_nothing_alive(client: Application, member: Membership) -> None:
    first = make_refresh_token(make_authorization(client, member))
    refreshing = [lambda: refresh(client, first)] * 8
    answers = at_once(*refreshing[:4], lambda: revoke(client, first), *refreshing[4:])
    assert answers.pop(4).status_code == 200
    for answer in answers:
        assert answer.status_code == 200 or refusal(answer) == (400, "invalid_grant")
    assert not Authorization.objects.active().exists()
    given = [answer.json()["refresh_token"] for answer in answers if answer.status_code == 200]
    for token in [first, *given]:
        assert refusal(refresh(client, token)) == (400, "invalid_grant")


def test_a_member_who_leaves_while_the_code_is_redeemed_gets_nothing(
    client: Application, member: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = make_code(client, member)
    create = Validator._create_access_token

    def leave(*args: Any) -> None:
        create(*args)
        Membership.objects.filter(pk=member.pk)._raw_delete("default")  # as if committed by somebody else just now

    monkeypatch.setattr(Validator, "_create_access_token", leave)
    assert refusal(redeem(client, code)) == (400, "invalid_grant")
    assert AccessToken.objects.count() == Authorization.objects.count() == 0
