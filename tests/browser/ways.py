"""How a browser gets to a page: functions that make the rows that it needs, and end with the page open."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.conf import settings
from django.utils import timezone

from apps.accounts import home
from apps.accounts.invitations import invite
from apps.orgs.models import HealthTimetable, Invitation, Membership, Organization, Platform, Project, User
from apps.orgs.overview import FOREVER
from tests.accounts.visitors import PASSWORD, give_second_factor, link_in_mail, person
from tests.browser.conftest import Visit
from tests.factories import fill, make_app
from tests.oauthmcp.authorizing import PATH as AUTHORIZE
from tests.oauthmcp.authorizing import wanted
from tests.oauthmcp.grants import make_authorization, make_client

ADA = "ada@example.com"
LONG = "maximiliane-alexandra-constanze.featherstonehaugh@subsidiary.of-a-company.example.com"
LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
SIGN_IN = "/account/login/"


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
    Membership.objects.create(organization=Organization.objects.get(slug="acme"), user=user)
    return user


def member_of_two(visit: Visit) -> User:
    """Everything that they see has a long name."""
    user = member(visit, LONG, name=LONG_WORD)
    rival = fill("rival").organization
    rival.name = LONG_WORD
    rival.save()
    Membership.objects.create(organization=rival, user=user, role="owner")
    return user


def careful(visit: Visit) -> User:
    """A member with an authenticator app and recovery codes."""
    user = member(visit)
    give_second_factor(user)
    RecoveryCodes.activate(user)
    return user


def invited(visit: Visit, email: str = ADA) -> str:
    invite(Invitation(organization=Organization.objects.get(slug="acme"), email=email))
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


def authorizing(visit: Visit) -> None:
    reference(visit)
    visit.page.click(".btn.authorize")


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
    visit.sign_in(member_of_two(visit))
    visit.open("/account/")


def at_a_glance(visit: Visit) -> None:
    """Applications of every health, and an organization whose last sync failed."""
    user = member_of_two(visit)
    acme = Organization.objects.get(slug="acme")
    project = Project.objects.filter(organization=acme)[0]
    for level in ("down", "degraded", "degraded", "deploying", *["healthy"] * 9):
        steps = {"organization": acme, "level_1": level, "until_1": FOREVER}
        HealthTimetable.objects.update_or_create(app=make_app(project, level), holds="always", defaults=steps)
    Membership.objects.create(organization=Organization.objects.create(slug="empty", name="Nothing yet"), user=user)
    Platform.objects.filter(organization__slug="rival").update(last_sync_status="error", last_sync_at=timezone.now())
    Platform.objects.filter(organization=acme).update(last_sync_status="ok", last_sync_at=timezone.now())
    visit.sign_in(user)
    visit.open("/")


def at_home_without_organization(visit: Visit) -> None:
    visit.sign_in(person(LONG))
    visit.open("/")


def joined(visit: Visit) -> None:
    invitation_signed_in(visit)
    visit.follow()


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


# Letting apps in


def asked_by_an_app(user: Callable[[Visit], User] = member, **client: Any) -> Callable[[Visit], Any]:
    """The consent page, for an app with these fields."""

    def bring(visit: Visit) -> None:
        app = make_client(**client)
        visit.sign_in(user(visit))
        visit.open(f"{AUTHORIZE}?{urlencode(wanted(app, redirect_uri=app.redirect_uris))}")

    return bring


def nothing_ticked(visit: Visit) -> None:
    asked_by_an_app(member_of_two, name=f"An app that calls itself {LONG_WORD}")(visit)
    for box in visit.page.locator("[name=scope]").all():
        box.uncheck()
    visit.page.locator("[name=organization]").first.check()
    visit.follow("[value=allow]")


def sign_in_for_an_app(visit: Visit) -> None:
    app = make_client(
        f"An app that calls itself {LONG_WORD}", redirect_uris=f"https://{'long.' * 20}app.example/callback"
    )
    visit.open(f"{AUTHORIZE}?{urlencode(wanted(app, redirect_uri=app.redirect_uris))}")


def code_for_an_app(visit: Visit) -> None:
    careful(visit)
    with_form(sign_in_for_an_app, login=ADA, password=PASSWORD)(visit)


def answered_already(visit: Visit) -> None:
    """Somebody denies, comes back to the page, and allows."""
    asked_by_an_app()(visit)
    form = visit.page.locator("form:has([value=allow])")
    fields = {name: form.locator(f"[name={name}]").first.input_value() for name in ("handle", "csrfmiddlewaretoken")}
    visit.page.request.post(visit.origin + AUTHORIZE, form={**fields, "decision": "deny"}, max_redirects=0)
    visit.follow("[value=allow]")


def forgotten(visit: Visit) -> None:
    asked_by_an_app()(visit)
    visit.page.locator("[name=handle]").last.evaluate("field => field.value = 'unknown'")
    visit.follow("[value=allow]")


def at_another_address(visit: Visit) -> None:
    visit.open(f"{AUTHORIZE}?{urlencode(wanted(make_client(), redirect_uri='https://app.example/another'))}")


def at_a_website_with_an_error(visit: Visit) -> None:
    uri = f"https://{'long.' * 20}app.example/callback"
    query = wanted(make_client(redirect_uris=uri), redirect_uri=uri, resource="https://other.example")
    visit.open(f"{AUTHORIZE}?{urlencode(query)}")


# Connected apps


def connected(visit: Visit) -> None:
    """More than one page of them, and some with long names."""
    user = member_of_two(visit)
    for membership in Membership.objects.filter(user=user):
        make_authorization(make_client(f"An app that calls itself {LONG_WORD}"), membership, "account:read docs:read")
        for _ in range(30):
            make_authorization(make_client(), membership)
    visit.sign_in(user)
    visit.open("/account/clients/")


def disconnected(visit: Visit) -> None:
    connected(visit)
    visit.follow("main li [type=submit] >> nth=0")


# Errors


def old_form(visit: Visit) -> None:
    visit.open(SIGN_IN)
    visit.page.context.clear_cookies()
    visit.send(login=ADA, password=PASSWORD)


def decision_on_an_old_page(visit: Visit) -> None:
    asked_by_an_app()(visit)
    visit.page.context.clear_cookies()
    visit.follow("main [value=deny]")


def form_of_an_operator_who_was_signed_out(visit: Visit) -> None:
    visit.sign_in(User.objects.create_superuser("ops@example.com", PASSWORD))
    visit.open("/admin/orgs/organization/add/")
    visit.page.fill("[name=slug]", "harbour")
    visit.page.fill("[name=name]", LONG_WORD)
    visit.page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    visit.follow("[name=_save]")


def too_often(visit: Visit) -> None:
    visit.patch.setattr(settings, "ACCOUNT_RATE_LIMITS", {"login": "1/h/ip"})
    visit.open(SIGN_IN)
    visit.send(login=ADA, password=PASSWORD)
    visit.send(login=ADA, password=PASSWORD)


def bug(visit: Visit) -> None:
    visit.patch.setattr(home, "TOOLS", None)
    visit.open("/")


def under_another_host(visit: Visit) -> None:
    visit.origin = visit.origin.replace("localhost", "another.localhost")
    visit.open("/")
