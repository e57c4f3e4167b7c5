"""Who finds the operators' part, and what somebody reads who may not go there."""

from typing import Any

import pytest

from tests.accounts.visitors import give_second_factor, person, said, visitor

pytestmark = pytest.mark.django_db
LINK = '<a href="/admin/">Operators</a>'


@pytest.mark.parametrize("address", ["/", "/account/", "/account/clients/"])
def test_operators_stands_in_the_navigation_for_operators_only(address: str) -> None:
    operator, member = person("op@example.com", is_staff=True), person()
    assert LINK in visitor(operator).get(address).content.decode()
    for browser in (visitor(member), visitor()):
        assert LINK not in browser.get(address, follow=True).content.decode()


@pytest.mark.parametrize("address", ["/admin/", "/admin/orgs/organization/", "/admin/login/"])
def test_a_member_who_opens_the_admin_reads_why_not(address: str) -> None:
    answer = visitor(person()).get(address, follow=True)
    assert answer.status_code == 403
    assert "This part is for operators" in said(answer)
    assert "ada@example.com" in said(answer)
    assert "no-store" in answer["Cache-Control"]
    assert len(answer.redirect_chain) <= 1


def test_from_there_one_gets_to_another_account() -> None:
    browser = visitor(person())
    answer = browser.post("/account/logout/", {"next": "/admin/"}, follow=True)
    assert answer.redirect_chain[-1] == ("/account/login/?next=%2Fadmin%2F", 302)


def test_somebody_who_is_not_signed_in_is_asked_to_sign_in() -> None:
    assert visitor().get("/admin/", follow=True).redirect_chain[-1] == ("/account/login/?next=%2Fadmin%2F", 302)


def test_an_operator_still_needs_a_second_factor(settings: Any) -> None:
    settings.OPERATORS_NEED_SECOND_FACTOR = True
    operator = person("op@example.com", is_staff=True)
    assert visitor(operator).get("/admin/", follow=True).redirect_chain[-1][0].endswith("second-factor%2Fapp%2F")
    give_second_factor(operator)
    assert visitor(operator).get("/admin/").status_code == 200
