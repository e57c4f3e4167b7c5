"""How operators keep users."""

from django.test import Client
from django.urls import reverse

from apps.orgs.models import (
    User,
)
from tests.operators import client_of, no_rows, page_of, staff_who_may


def test_a_user_is_added_with_a_password_and_can_sign_in(operator: Client) -> None:
    data = {"email": "New@Example.com", "name": "N", "password1": "correct-horse-7", "password2": "correct-horse-7"}

    assert operator.post(reverse("admin:orgs_user_add"), data).status_code == 302

    user = User.objects.get(email="new@example.com")
    assert user.check_password("correct-horse-7")
    assert not user.is_staff


def test_an_address_that_is_taken_in_other_capitals_is_refused_in_plain_words(operator: Client) -> None:
    data = {"email": "MEMBER@example.com", "password1": "correct-horse-7", "password2": "correct-horse-7"}
    answer = operator.post(reverse("admin:orgs_user_add"), data)
    assert answer.context["adminform"].form.errors == {"email": ["Another user has this e-mail address."]}


def test_a_users_name_and_password_can_be_changed_and_nobody_is_deleted(operator: Client) -> None:
    user = User.objects.get(email="member@example.com")
    data = {"email": user.email, "name": "M", "is_active": "on"} | no_rows("memberships")
    assert operator.post(page_of(user), data).status_code == 302
    new = {"password1": "correct-horse-8", "password2": "correct-horse-8"}
    assert operator.post(page_of(user).replace("change/", "password/"), new).status_code == 302
    assert operator.post(page_of(user, "delete"), {"post": "yes"}).status_code == 403

    user.refresh_from_db()
    assert user.name == "M"
    assert user.check_password("correct-horse-8")


def test_an_operator_cannot_give_themselves_more_power_or_touch_those_who_have_it(operator: Client) -> None:
    staff = staff_who_may("change_user", "view_user")
    client, superuser = client_of(staff), User.objects.get(email="operator@example.com")

    data = {"email": "renamed@example.com", "is_active": "on", "is_superuser": "on"} | no_rows("memberships")
    assert client.post(page_of(staff), data).status_code == 302
    staff.refresh_from_db()
    assert (staff.email, staff.is_staff, staff.is_superuser) == ("renamed@example.com", True, False)

    new = {"password1": "correct-horse-8", "password2": "correct-horse-8"}
    assert client.post(page_of(superuser), {"email": "mine@example.com"}).status_code == 403
    assert client.post(page_of(superuser).replace("change/", "password/"), new).status_code == 403
