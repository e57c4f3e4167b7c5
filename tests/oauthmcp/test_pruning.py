"""`manage.py cleartokens`: what it deletes, and above all what it does not."""

from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp import pruning
from apps.oauthmcp.models import (
    BUILT_IN,
    AccessToken,
    Application,
    Authorization,
    Grant,
    RefreshToken,
    idle_expiry,
)
from apps.orgs.models import Membership
from tests.factories import Fill
from tests.oauthmcp.grants import (
    make_access_token,
    make_authorization,
    make_client,
    make_code,
    make_member,
    make_refresh_token,
)
from tests.oauthmcp.programs import redeem, refresh, refusal


@pytest.fixture
def member(acme: Fill) -> Membership:
    return make_member(acme.organization)


@pytest.fixture
def client(member: Membership) -> Application:
    return make_client(authorized_at=timezone.now())


def ago(**span: float) -> datetime:
    return timezone.now() - timedelta(**span)


def clear() -> dict[str, int]:
    out = StringIO()
    call_command("cleartokens", stdout=out)
    lines = [line.rpartition(": ") for line in out.getvalue().splitlines()]
    assert all(count.endswith(" deleted") for _, _, count in lines)
    return {name: int(count.split()[0]) for name, _, count in lines if count != "0 deleted"}


def test_our_command_is_the_one_that_runs() -> None:
    assert get_commands()["cleartokens"] == get_commands()["createapplication"] == "apps.oauthmcp"


def test_no_client_is_made_by_hand_with_its_secret_in_clear(db: None) -> None:
    before = Application.objects.count()
    with pytest.raises(CommandError, match="register themselves"):
        call_command("createapplication", "confidential", "authorization-code")
    assert Application.objects.count() == before


def test_nothing_of_a_living_authorization_is_deleted(client: Application, member: Membership) -> None:
    code = make_code(client, member)
    make_code(client, member)
    token = redeem(client, code).json()["refresh_token"]
    newest = refresh(client, token).json()["refresh_token"]
    Grant.objects.update(expires=ago(hours=23))
    Grant.objects.filter(code=hash_of(code)).update(expires=ago(days=29), redeemed_at=ago(days=29))
    AccessToken.objects.update(expires=ago(hours=23))
    RefreshToken.objects.filter(token_checksum=hash_of(token)).update(revoked=ago(days=29))
    assert clear() == {}
    assert refresh(client, newest).status_code == 200


@pytest.mark.spec("RFC 6749 §4.1.2")
def test_codes_go_a_day_after_they_expired_and_redeemed_ones_after_thirty(
    client: Application, member: Membership
) -> None:
    make_code(client, member, expires=ago(hours=25))
    make_code(client, member, expires=ago(days=31), redeemed_at=ago(days=31))
    kept = make_code(client, member, expires=ago(days=29), redeemed_at=ago(days=29))
    assert clear() == {"codes that were not redeemed": 1, "codes that were redeemed": 1}
    assert Grant.objects.get().code == hash_of(kept)


def test_access_tokens_go_a_day_after_they_expired(client: Application, member: Membership) -> None:
    authorization = make_authorization(client, member)
    make_access_token(authorization, expires=ago(hours=25))
    make_access_token(authorization, expires=ago(hours=23))
    assert clear() == {"access tokens": 1}
    assert Authorization.objects.active().exists()


@pytest.mark.spec("RFC 9700 §4.14.2")
def test_rotated_refresh_tokens_are_remembered_for_thirty_days(client: Application, member: Membership) -> None:
    authorization = make_authorization(client, member)
    make_refresh_token(authorization, revoked=ago(days=31))
    stolen = make_refresh_token(authorization, revoked=ago(days=29))
    current = make_refresh_token(authorization)
    RefreshToken.objects.update(created=ago(days=90))
    assert clear() == {"refresh tokens": 1}
    assert refusal(refresh(client, stolen)) == (400, "invalid_grant")
    assert refusal(refresh(client, current)) == (400, "invalid_grant")


def test_authorizations_go_thirty_days_after_they_ended_with_all_that_hangs_on_them(
    client: Application, member: Membership
) -> None:
    expired = make_authorization(client, member, expires_at=ago(days=31))
    make_refresh_token(expired)
    revoked = make_authorization(client, member, revoked_at=ago(days=31))
    make_refresh_token(revoked)
    make_code(client, member, authorization=revoked, redeemed_at=ago(days=1), expires=ago(days=1))
    kept = [
        make_authorization(client, member, expires_at=ago(days=29)),
        make_authorization(client, member, revoked_at=ago(days=29), expires_at=idle_expiry()),
        make_authorization(client, member, created=ago(days=400)),
    ]
    assert clear() == {"expired authorizations": 1, "revoked authorizations": 1}
    assert set(Authorization.objects.all()) == set(kept)
    assert RefreshToken.objects.count() == Grant.objects.count() == 0


def registered(days: float, **fields: Any) -> Application:
    client = make_client(**fields)
    Application.objects.filter(pk=client.pk).update(created=ago(days=days))
    return client


@pytest.mark.spec("RFC 7591 §5")
def test_only_clients_that_nobody_ever_let_in_are_forgotten(member: Membership) -> None:
    registered(31)
    kept = [
        registered(29),
        registered(400, authorized_at=ago(days=399)),
        registered(400, registration_source="manual"),
        registered(400, registration_source="cimd"),
    ]
    with_code, with_authorization = registered(400), registered(400)  # should `authorized_at` ever be wrong
    make_code(with_code, member)
    make_authorization(with_authorization, member)
    ours = Application.objects.filter(client_id__in=BUILT_IN)
    ours.update(created=ago(days=400), registration_source="dcr", authorized_at=None)
    assert clear() == {"clients that were never authorized": 1}
    assert set(Application.objects.all()) == {*kept, with_code, with_authorization, *ours}


def test_a_client_outlives_its_last_authorization(client: Application, member: Membership) -> None:
    Application.objects.update(created=ago(days=400))
    make_authorization(client, member, expires_at=ago(days=31))
    assert clear() == {"expired authorizations": 1}
    assert Application.objects.filter(pk=client.pk).exists()


def test_many_rows_go_in_small_transactions(
    client: Application, member: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "BATCH", 10)
    authorization = make_authorization(client, member)
    fields = {"user": member.user, "application": client, "authorization": authorization, "expires": ago(days=2)}
    rows = [AccessToken(token_checksum=str(number), **fields) for number in range(35)]
    AccessToken.objects.bulk_create(rows)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert clear() == {"access tokens": 35}
    deletes = [q["sql"] for q in queries if q["sql"].startswith("DELETE") and "accesstoken" in q["sql"]]
    assert len(deletes) == 4
