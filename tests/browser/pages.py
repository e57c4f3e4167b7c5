"""Every page there is, and how a browser gets there.

A new page, or an old one that can look different, is one more entry in PAGES: a name (of its pictures), the heading
that tells that the browser is there, and a function that brings it there. The function has the rows of `acme`, makes
those that it needs besides, and ends with the page open. test_every_page.py does the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.conf import settings

from apps.orgs.invitations import invite
from apps.orgs.models import Invitation, Membership, User
from apps.tools import views
from tests.browser.conftest import Visit
from tests.factories import fill
from tests.oauthmcp.accounts.visitors import PASSWORD, give_second_factor, link_in_mail, person

ADA = "ada@example.com"
LONG = "maximiliane-alexandra-constanze.featherstonehaugh@subsidiary.of-a-company.example.com"
LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
SIGN_IN = "/account/login/"


@dataclass
class Page:
    name: str
    heading: str
    bring: Callable[[Visit], Any]
    status: int = 200
    leave_out: tuple[str, ...] = ()  # selectors of what is not asked about, each with its reason


def at(address: str) -> Callable[[Visit], Any]:
    return lambda visit: visit.open(address)


def signed_in_at(address: str, **fields: Any) -> Callable[[Visit], Any]:
    """As a member of acme."""

    def bring(visit: Visit) -> None:
        visit.sign_in(member(visit, **fields))
        visit.open(address)

    return bring


def with_second_factor_at(address: str) -> Callable[[Visit], Any]:
    def bring(visit: Visit) -> None:
        visit.sign_in(careful(visit))
        visit.open(address)

    return bring


def member(visit: Visit, email: str = ADA, **fields: Any) -> User:
    user = person(email, **{"name": "Ada Lovelace", **fields})
    Membership.objects.create(organization=visit.acme.organization, user=user)
    return user


def careful(visit: Visit) -> User:
    """A member with an authenticator app and recovery codes."""
    user = member(visit)
    give_second_factor(user)
    RecoveryCodes.activate(user)
    return user


def invited(visit: Visit, email: str = ADA) -> str:
    invite(Invitation(organization=visit.acme.organization, email=email))
    return link_in_mail()


def with_form(bring: Callable[[Visit], Any], **fields: str) -> Callable[[Visit], Any]:
    """What the page says to a form that was filled in like this."""

    def send(visit: Visit) -> None:
        bring(visit)
        visit.send(**fields)

    return send


def reference(visit: Visit) -> None:
    visit.open("/api/v1/docs")
    visit.page.wait_for_selector(".opblock")


# Signing in


def wrong_password(visit: Visit) -> None:
    person()
    with_form(at(SIGN_IN), login=ADA, password="not-the-password")(visit)


def asked_for_a_code(visit: Visit) -> None:
    careful(visit)
    with_form(at(SIGN_IN), login=ADA, password=PASSWORD)(visit)


def switched_off(visit: Visit) -> None:
    person(is_active=False)
    with_form(at(SIGN_IN), login=ADA, password=PASSWORD)(visit)


# Forgotten passwords


def reset_link(visit: Visit) -> str:
    person()
    with_form(at("/account/password/reset/"), email=ADA)(visit)
    return link_in_mail()


def reset_asked_for(visit: Visit) -> None:
    reset_link(visit)


def reset_link_followed(visit: Visit) -> None:
    visit.open(reset_link(visit))


reset_refused = with_form(reset_link_followed, password1="short", password2="different")
reset_accepted = with_form(reset_link_followed, password1="another-long-password", password2="another-long-password")


def reset_link_used(visit: Visit) -> None:
    link = reset_link(visit)
    user = User.objects.get(email=ADA)
    user.set_password("changed-meanwhile")
    user.save()
    visit.open(link)


# Accounts


def several_organizations(visit: Visit) -> None:
    user = member(visit, LONG, name=LONG_WORD)
    rival = fill("rival").organization
    rival.name = LONG_WORD
    rival.save()
    Membership.objects.create(organization=rival, user=user, role="owner")
    visit.sign_in(user)
    visit.open("/account/")


def no_organization(visit: Visit) -> None:
    visit.sign_in(person())
    visit.open("/account/")


def password_once_more(visit: Visit) -> None:
    visit.sign_in(member(visit), is_confirmed=False)
    visit.open("/account/second-factor/app/")


def code_refused(visit: Visit) -> None:
    with_form(signed_in_at("/account/second-factor/app/"), code="000000")(visit)


def codes_used_up(visit: Visit) -> None:
    user = careful(visit)
    codes = RecoveryCodes(user.authenticator_set.get(type="recovery_codes"))
    for code in codes.get_unused_codes():
        codes.validate_code(code)
    visit.sign_in(user)
    visit.open("/account/second-factor/codes/")


# Invitations


def invitation(visit: Visit) -> None:
    visit.open(invited(visit))


def invitation_with_an_account(visit: Visit) -> None:
    person()
    visit.open(invited(visit))


def invitation_signed_in(visit: Visit) -> None:
    visit.sign_in(person())
    visit.open(invited(visit))


def invitation_for_another(visit: Visit) -> None:
    visit.sign_in(person())
    visit.open(invited(visit, LONG))


# Errors


def old_form(visit: Visit) -> None:
    visit.open(SIGN_IN)
    visit.page.context.clear_cookies()
    visit.send(login=ADA, password=PASSWORD)


def too_often(visit: Visit) -> None:
    visit.patch.setattr(settings, "ACCOUNT_RATE_LIMITS", {"login": "1/h/ip"})
    visit.open(SIGN_IN)
    visit.send(login=ADA, password=PASSWORD)
    visit.send(login=ADA, password=PASSWORD)


def bug(visit: Visit) -> None:
    visit.patch.setattr(views, "TOOLS", None)
    visit.open("/")


def under_another_host(visit: Visit) -> None:
    visit.origin = visit.origin.replace("localhost", "another.localhost")
    visit.open("/")


PAGES = [
    Page("first-page", "Look into your deployments", at("/")),
    # Swagger UI's own markup has pale colours, buttons inside buttons and a select without a name.
    Page("reference", "Porthole", reference, leave_out=("#reference > .swagger-ui",)),
    Page("sign-in", "Sign in", at(SIGN_IN)),
    Page("sign-in-wrong", "Sign in", wrong_password),
    Page("sign-in-admin", "Sign in", at("/admin/")),
    Page("sign-in-code", "Your code", asked_for_a_code),
    Page("sign-in-code-wrong", "Your code", with_form(asked_for_a_code, code="000000")),
    Page("sign-in-switched-off", "This account is switched off", switched_off),
    Page("sign-out", "Sign out?", signed_in_at("/account/logout/")),
    Page("reset", "Choose a new password", at("/account/password/reset/")),
    Page("reset-wrong", "Choose a new password", with_form(at("/account/password/reset/"), email="ada@example")),
    Page("reset-sent", "Look into your mail", reset_asked_for),
    Page("reset-choose", "Choose a new password", reset_link_followed),
    Page("reset-choose-wrong", "Choose a new password", reset_refused),
    Page("reset-link-used", "This link no longer works", reset_link_used),
    Page("reset-done", "You can sign in now", reset_accepted),
    Page("account", "Your account", signed_in_at("/account/")),
    Page("account-several", "Your account", several_organizations),
    Page("account-none", "Your account", no_organization),
    Page("account-operator", "Your account", signed_in_at("/account/", is_staff=True)),
    Page("password", "Change your password", signed_in_at("/account/password/change/")),
    Page(
        "password-wrong",
        "Change your password",
        with_form(signed_in_at("/account/password/change/"), oldpassword="no", password1="short", password2="other"),
    ),
    Page("confirm-password", "Confirm that it is you", password_once_more),
    Page("confirm-code", "Confirm that it is you", with_second_factor_at("/account/second-factor/confirm/")),
    Page("second-factor-off", "Second factor", signed_in_at("/account/second-factor/")),
    Page("second-factor-on", "Second factor", with_second_factor_at("/account/second-factor/")),
    Page("app", "Set up an authenticator app", signed_in_at("/account/second-factor/app/", is_staff=True)),
    Page("app-wrong", "Set up an authenticator app", code_refused),
    Page("app-remove", "Remove the authenticator app?", with_second_factor_at("/account/second-factor/app/remove/")),
    Page("codes", "Recovery codes", with_second_factor_at("/account/second-factor/codes/")),
    Page("codes-used-up", "Recovery codes", codes_used_up),
    Page("codes-new", "Make new recovery codes?", with_second_factor_at("/account/second-factor/codes/new/")),
    Page("invitation", "Join Acme", invitation),
    Page("invitation-wrong", "Join Acme", with_form(invitation, name="Ada", password1="short", password2="other")),
    Page("invitation-with-account", "Join Acme", invitation_with_an_account),
    Page("invitation-signed-in", "Join Acme", invitation_signed_in),
    Page("invitation-for-another", "Join Acme", invitation_for_another),
    Page("invitation-gone", "This invitation does not work", at("/account/invitations/unknown/"), status=404),
    Page("error-400", "Porthole did not understand this request", under_another_host, status=400),
    Page("error-403", "This is not allowed", old_form, status=403),
    Page("error-404", "There is nothing at this address", at("/nothing"), status=404),
    Page("error-429", "Too many attempts", too_often, status=429),
    Page("error-500", "Something went wrong on our side", bug, status=500),
]
