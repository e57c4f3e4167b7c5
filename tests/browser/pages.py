"""Every page there is. What holds for all of them is in test_every_page.py.

A new page, or an old one that can look different, is one more entry in PAGES: a name (of its pictures), a heading
that tells that the browser is there, and a function that brings it there. Such functions are in ways.py and tokens.py:
they have the rows of acme, make those that they need besides, and end with the page open.

EVERY_RUN are those through which somebody gets in or lets something in, and one of each kind of the others; make soak
opens them all. What the pages say and answer, the tests of their apps show in every run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.accounts.visitors import person
from tests.browser import tokens, ways
from tests.browser.conftest import Visit
from tests.oauthmcp.authorizing import PATH as AUTHORIZE


@dataclass
class Page:
    name: str
    heading: str
    bring: Callable[[Visit], Any]
    status: int = 200
    leave_out: tuple[str, ...] = ()  # selectors of what is not asked about, each with its reason


PAGES = [
    Page("first-page", "Look into your deployments", ways.at("/")),
    Page("first-page-member", "Your organizations", ways.at_a_glance),
    Page("first-page-no-organization", "Your organizations", ways.at_home_without_organization),
    Page("first-page-joined", "Your organizations", ways.joined),
    Page("docs", "All pages", ways.at("/docs/")),
    Page("docs-page", "Running Porthole", ways.at("/docs/running")),
    Page("docs-tool", "list_deployments", ways.at("/docs/tools/list_deployments")),
    Page("docs-pictures", "Connect Dokploy", ways.at("/docs/dokploy")),
    Page("docs-found", "Search", ways.at("/docs/?q=certificate")),
    Page("docs-nothing-found", "Search", ways.at("/docs/?q=qqqqzzzz")),
    # Swagger UI's own markup has pale colours, buttons inside buttons and a select without a name.
    Page("reference", "Porthole", ways.reference, leave_out=("#reference > .swagger-ui",)),
    Page("reference-authorize", "Available authorizations", ways.authorizing, leave_out=("#reference > .swagger-ui",)),
    Page("reference-signed-in", "You can close this window", ways.at("/api/v1/docs/signed-in")),
    Page("sign-in", "Sign in", ways.at(ways.SIGN_IN)),
    Page("sign-in-wrong", "Sign in", ways.wrong_password),
    Page("sign-in-admin", "Sign in", ways.at("/admin/")),
    Page("sign-in-for-an-app", "Sign in", ways.sign_in_for_an_app),
    Page("sign-in-code-for-an-app", "Your code", ways.code_for_an_app),
    Page("not-an-operator", "This part is for operators", ways.signed_in_at("/admin/"), status=403),
    Page("sign-in-code", "Your code", ways.asked_for_a_code),
    Page("sign-in-code-wrong", "Your code", ways.with_form(ways.asked_for_a_code, code="000000")),
    Page("sign-in-switched-off", "This account is switched off", ways.switched_off),
    Page("sign-out", "Sign out?", ways.signed_in_at("/account/logout/")),
    Page("reset", "Choose a new password", ways.at("/account/password/reset/")),
    Page(
        "reset-wrong", "Choose a new password", ways.with_form(ways.at("/account/password/reset/"), email="ada@example")
    ),
    Page("reset-sent", "Look into your mail", ways.reset_asked_for),
    Page("reset-choose", "Choose a new password", ways.reset_link_followed),
    Page("reset-choose-wrong", "Choose a new password", ways.reset_refused),
    Page("reset-link-used", "This link no longer works", ways.reset_link_used),
    Page("reset-done", "You can sign in now", ways.reset_accepted),
    Page("account", "Your account", ways.signed_in_at("/account/")),
    Page("account-several", "Your account", ways.several_organizations),
    Page("account-none", "Your account", ways.no_organization),
    Page("account-operator", "Your account", ways.signed_in_at("/account/", is_staff=True)),
    Page("password", "Change your password", ways.signed_in_at("/account/password/change/")),
    Page(
        "password-wrong",
        "Change your password",
        ways.with_form(
            ways.signed_in_at("/account/password/change/"), oldpassword="no", password1="short", password2="other"
        ),
    ),
    Page("confirm-password", "Confirm that it is you", ways.password_once_more),
    Page("confirm-code", "Confirm that it is you", ways.with_second_factor_at("/account/second-factor/confirm/")),
    Page("second-factor-off", "Second factor", ways.signed_in_at("/account/second-factor/")),
    Page("second-factor-on", "Second factor", ways.with_second_factor_at("/account/second-factor/")),
    Page("app", "Set up an authenticator app", ways.signed_in_at("/account/second-factor/app/", is_staff=True)),
    Page("app-wrong", "Set up an authenticator app", ways.code_refused),
    Page(
        "app-remove", "Remove the authenticator app?", ways.with_second_factor_at("/account/second-factor/app/remove/")
    ),
    Page("codes", "Recovery codes", ways.with_second_factor_at("/account/second-factor/codes/")),
    Page("codes-used-up", "Recovery codes", ways.codes_used_up),
    Page("codes-new", "Make new recovery codes?", ways.with_second_factor_at("/account/second-factor/codes/new/")),
    Page("invitation", "Join Acme", ways.invitation),
    Page(
        "invitation-wrong",
        "Join Acme",
        ways.with_form(ways.invitation, name="Ada", password1="short", password2="other"),
    ),
    Page("invitation-with-account", "Join Acme", ways.invitation_with_an_account),
    Page("invitation-signed-in", "Join Acme", ways.invitation_signed_in),
    Page("invitation-for-another", "Join Acme", ways.invitation_for_another),
    Page("invitation-gone", "This invitation does not work", ways.at("/account/invitations/unknown/"), status=404),
    Page("consent", "wants to look into Porthole", ways.asked_by_an_app()),
    Page(
        "consent-web",
        "wants to look",
        ways.asked_by_an_app(redirect_uris=f"https://{'long.' * 20}app.example/callback"),
    ),
    Page("consent-scheme", "wants to look", ways.asked_by_an_app(redirect_uris="cursor://example/callback")),
    Page("consent-several", "wants to look", ways.asked_by_an_app(ways.member_of_two, name=ways.LONG_WORD)),
    Page("consent-missing", "wants to look", ways.nothing_ticked, status=400),
    Page("consent-no-organization", "wants to look", ways.asked_by_an_app(lambda _: person())),
    Page("consent-answered", "You have answered this already", ways.answered_already, status=409),
    Page("consent-gone", "This page is too old", ways.forgotten, status=400),
    Page("consent-unknown-app", "Porthole does not know this app", ways.at(f"{AUTHORIZE}?client_id=x"), status=400),
    Page("consent-wrong-address", "The app gave an address", ways.at_another_address, status=400),
    Page("consent-not-sent-back", "The app’s request has failed", ways.at_a_website_with_an_error, status=400),
    Page(
        "consent-unreadable",
        "The app's request cannot be read",
        ways.at(f"{AUTHORIZE}?client_id=x&client_id=x"),
        status=400,
    ),
    Page("clients", "Connected apps", ways.connected),
    Page("clients-none", "Connected apps", ways.signed_in_at("/account/clients/")),
    Page("clients-disconnected", "Connected apps", ways.disconnected),
    Page("tokens", "Tokens for scripts", tokens.several),
    Page("tokens-none", "Tokens for scripts", ways.signed_in_at(tokens.LIST)),
    Page("tokens-organization", "Tokens of", tokens.everybodys),
    Page("token-new", "Make a token", ways.signed_in_at(f"{tokens.LIST}new/")),
    Page("token-new-wrong", "Make a token", tokens.refused, status=400),
    Page("token-made", "Your new token", tokens.made),
    Page("error-400", "Porthole did not understand this request", ways.under_another_host, status=400),
    Page("error-403", "This is not allowed", ways.decision_on_an_old_page, status=403),
    Page("old-form", "This page was open for too long", ways.old_form, status=403),
    Page("signed-out-form", "You were signed out meanwhile", ways.form_of_an_operator_who_was_signed_out, status=403),
    Page("error-404", "There is nothing at this address", ways.at("/nothing"), status=404),
    Page("error-429", "Too many attempts", ways.too_often, status=429),
    Page("error-500", "Something went wrong on our side", ways.bug, status=500),
]

EVERY_RUN = {
    "first-page", "docs-page", "reference", "sign-in", "sign-in-wrong", "sign-in-code", "reset-choose", "account",
    "second-factor-on", "codes", "invitation", "consent", "consent-several", "consent-missing", "consent-gone",
    "clients", "tokens", "token-new", "token-made", "error-404",
}  # fmt: skip
