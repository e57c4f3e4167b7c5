"""Several at once, each in a thread and on a connection of its own."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.oauthmcp.models import Authorization, ScriptToken
from apps.oauthmcp.script_tokens import ending, making
from apps.orgs.models import Membership, Organization, User
from tests.oauthmcp.grants import make_member
from tests.oauthmcp.test_concurrency import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("database_for_many")]


@pytest.fixture
def ada() -> Membership:
    return make_member(Organization.objects.create(slug="acme", name="Acme"))


def maker(member: Membership, form: str) -> Callable[[], str]:
    """Makes a token; says how that went."""
    user = User.objects.get(pk=member.user_id)
    now = timezone.now()
    wanted = making.Wanted(form, form, member.pk, ["apps:read"], now + timedelta(days=30), now)

    def make() -> str:
        try:
            making.make(user, wanted)
        except (making.NotMade, making.MadeAlready) as error:
            return type(error).__name__
        return "made"

    return make


def test_nobody_gets_a_twenty_first(ada: Membership) -> None:
    for number in range(making.MAX_NUMBER - 1):
        maker(ada, f"before {number}")()
    answers = at_once(*(maker(ada, f"form {number}") for number in range(8)))
    assert sorted(answers) == ["NotMade"] * 7 + ["made"]
    assert Authorization.objects.active().count() == making.MAX_NUMBER


def test_a_form_that_is_sent_many_times_at_once_makes_one_token(ada: Membership) -> None:
    answers = at_once(*[maker(ada, "the same form")] * 8)
    assert sorted(answers) == ["MadeAlready"] * 7 + ["made"]
    assert ScriptToken.objects.count() == 1


def test_none_is_left_when_tokens_are_forbidden_while_some_are_made(ada: Membership) -> None:
    organization = Organization.objects.get(pk=ada.organization_id)
    makers = [maker(ada, f"form {number}") for number in range(6)]
    at_once(*makers[:3], lambda: ending.allow(organization, False) or "forbidden", *makers[3:])
    assert not Authorization.objects.active().exists()
    assert ScriptToken.objects.exclude(ended_by="organization").count() == 0
