"""Changing a password, and choosing a new one by mail."""

from threading import Thread

import pytest
from django.core import mail

from apps.orgs.models import User
from tests.accounts.visitors import PASSWORD, link_in_mail, person, said, sign_in, visitor, who

pytestmark = pytest.mark.django_db
NEW = "another-long-password"


def ask(email: str = "ada@example.com") -> str:
    """Where asking for a new password leads."""
    return str(visitor().post("/account/password/reset/", {"email": email})["Location"])


def choose(client: object, link: str, password: str = NEW, again: str = NEW) -> object:
    form = client.get(link, follow=True)  # type: ignore[attr-defined]
    return client.post(form.request["PATH_INFO"], {"password1": password, "password2": again}, follow=True)  # type: ignore[attr-defined]


def test_the_password_is_changed_and_other_browsers_are_signed_out() -> None:
    user = person()
    here, elsewhere = visitor(user), visitor(user)
    answer = here.post(
        "/account/password/change/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}, follow=True
    )
    assert "Your password is changed." in said(answer)
    assert who(here) == user.email
    assert who(elsewhere) is None
    assert mail.outbox[-1].to == [user.email]


@pytest.mark.parametrize(
    ("old", "new", "again", "sentence"),
    [
        ("wrong-password", NEW, NEW, "This is not your current password."),
        (PASSWORD, NEW, "something-else", "You must type the same password each time."),
        (PASSWORD, "short", "short", "This password is too short."),
        (PASSWORD, "password", "password", "This password is too common."),
        (PASSWORD, "ada@example.com", "ada@example.com", "too similar to the e-mail"),
    ],
)
def test_a_bad_change_says_why(old: str, new: str, again: str, sentence: str) -> None:
    user = person()
    answer = visitor(user).post("/account/password/change/", {"oldpassword": old, "password1": new, "password2": again})
    assert sentence in said(answer)
    assert 'role="alert"' in answer.content.decode()
    assert User.objects.get(pk=user.pk).check_password(PASSWORD)


def test_the_link_in_the_mail_sets_a_new_password_once() -> None:
    person()
    assert ask() == "/account/password/reset/sent/"
    client = visitor()
    assert "You can sign in now" in said(choose(client, link_in_mail(0)))
    assert sign_in(visitor(), password=NEW).status_code == 302
    assert "is not right" in said(sign_in(visitor(), password=PASSWORD))
    assert "This link no longer works" in said(visitor().get(link_in_mail(0)))


def test_the_link_leaves_the_address_bar_at_once() -> None:
    person()
    ask()
    link = link_in_mail()
    answer = visitor().get(link)
    assert answer.status_code == 302
    assert link.split("-")[-1].strip("/") not in answer["Location"]


def test_an_unknown_address_gets_the_same_answer_and_no_mail() -> None:
    person()
    person("off@example.com", is_active=False)
    assert ask("nobody@example.com") == ask("off@example.com") == ask("ada@example.com")
    assert [message.to for message in mail.outbox] == [["ada@example.com"]]


def test_the_mail_names_the_address_of_the_installation_not_of_the_request() -> None:
    person()
    visitor().post("/account/password/reset/", {"email": "ada@example.com"}, headers={"host": "localhost:666"})
    assert ":666" not in mail.outbox[0].body
    assert mail.outbox[0].from_email == "porthole@localhost"


def test_a_link_ends_after_an_hour(settings: object) -> None:
    person()
    ask()
    settings.PASSWORD_RESET_TIMEOUT = -1  # type: ignore[attr-defined]
    assert "This link no longer works" in said(visitor().get(link_in_mail()))


def test_a_link_to_an_address_that_was_changed_since_does_not_work() -> None:
    user = person()
    ask()
    User.objects.filter(pk=user.pk).update(email="new@example.com")
    assert "This link no longer works" in said(visitor().get(link_in_mail()))


@pytest.mark.parametrize("change", ["x", ""])
def test_a_link_that_was_tampered_with_does_not_work(change: str) -> None:
    person()
    ask()
    link = link_in_mail().rstrip("/")
    assert "This link no longer works" in said(visitor().get((link + change if change else link[:-1]) + "/"))


def test_a_mail_that_cannot_be_sent_changes_nothing_on_the_page(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    person()

    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    assert ask() == "/account/password/reset/sent/"
    assert "a mail was not sent" in caplog.text
    assert "ada@example.com" not in caplog.text


def test_mail_goes_out_in_a_thread_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    person()
    threads: list[Thread] = []
    monkeypatch.setattr("apps.accounts.mail.start", threads.append)
    ask()
    assert mail.outbox == []
    threads[0].run()
    assert len(mail.outbox) == 1


def test_asking_again_and_again_gets_429(settings: object) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_LIMITS  # type: ignore[attr-defined]
    answers = [visitor().post("/account/password/reset/", {"email": "a@example.com"}).status_code for _ in range(6)]
    assert answers == [302] * 5 + [429]


def test_links_are_not_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "porthole.access")
    person()
    ask()
    link = link_in_mail()
    visitor().get(link)
    visitor().get("/account/invitations/somebodys-token/")
    paths = [record.fields["path"] for record in caplog.records if hasattr(record, "fields")]
    assert paths[-2:] == ["/account/password/reset/key/…", "/account/invitations/…"]
    assert link.strip("/").rpartition("/")[2] not in caplog.text
    assert "somebodys-token" not in caplog.text


@pytest.mark.parametrize("uid", ["0", "zzzzzzzzzzzzz", "1y2p0ij32e8e8"])
def test_a_link_for_nobody_does_not_work(uid: str) -> None:
    assert "This link no longer works" in said(visitor().get(f"/account/password/reset/key/{uid}-set-password/"))
    assert "This link no longer works" in said(visitor().get(f"/account/password/reset/key/{uid}-abc-123/"))
