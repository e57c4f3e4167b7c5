"""What `manage.py setup` is to make: from its flags, or from answers at a terminal."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from getpass import getpass, getuser
from pathlib import Path
from typing import Any, get_args

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from apps.orgs.management.named import address
from apps.orgs.models import Membership, Organization, Platform, User
from apps.platforms.connecting import MAX_KEY, Kind, NotConnected, clean_address, clean_key
from apps.web.management.secret_file import secret_in

SYSTEMS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is None is left as it is. `operator` becomes an owner of `organization` (a slug) where both are given."""

    operator: str | None = None
    organization: str | None = None
    name: str | None = None
    kind: Kind | None = None
    url: str = ""
    key: str = field(default="", repr=False)
    manifest: str | None = None


def from_flags(values: dict[str, Any]) -> Plan:
    """Raises CommandError for what cannot be meant, before anything is changed."""
    kind = next((kind for kind in SYSTEMS if values[kind]), None)
    if values["organization"] is None and (values["name"] or kind or values["manifest"]):
        raise CommandError("--name, --dokploy, --coolify and --manifest need --organization.")
    if bool(kind) != bool(values["key_file"]):
        raise CommandError("--dokploy and --coolify need --key-file, a file with the key; nothing else takes it.")
    return Plan(
        operator=values["operator"] and address(values["operator"]),
        organization=values["organization"] and slug(values["organization"]),
        name=values["name"] and name(values["name"]),
        kind=kind,
        url=_clean(clean_address, values[kind]) if kind else "",
        key=_clean(clean_key, secret_in(values["key_file"], MAX_KEY)) if kind else "",
        manifest=values["manifest"] and readable(values["manifest"]),
    )


def slug(text: str) -> str:
    """An organization's short name. Raises CommandError, as the others here do."""
    return _field("slug", text, f"{text} is no short name for an organization")


def name(text: str) -> str:
    return _field("name", text, "An organization cannot have this name")


def titled(short: str) -> str:
    """The name of an organization that was only given a short one."""
    return short.replace("-", " ").title()


def _field(column: str, text: str, problem: str) -> str:
    try:
        Organization._meta.get_field(column).clean(text, None)  # type: ignore[union-attr]
    except ValidationError as error:
        raise CommandError(f"{problem}: {' '.join(error.messages)}") from None
    return text


def readable(file: str) -> str:
    try:
        if file != "-":
            Path(file).open("rb").close()
    except PermissionError:
        raise CommandError(f"{file} cannot be read by the user {getuser()}.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
    return file


def _clean(clean: Callable[[str], str], text: str) -> str:
    try:
        return clean(text)
    except NotConnected as error:
        raise CommandError(str(error)) from None


# Questions at a terminal. What is there already is not asked for.


def from_answers() -> Plan:
    """Raises EOFError and KeyboardInterrupt when somebody has had enough."""
    known = User.objects.filter(is_staff=True, is_active=True).values_list("email", flat=True).first()
    operator = known or ask("E-mail address of the operator, who runs Porthole", address)
    slugs = list(Organization.objects.values_list("slug", flat=True)[:2])
    plan = _ask_organization(operator) if not slugs else Plan(organization=slugs[0] if len(slugs) == 1 else None)
    if known and Membership.objects.filter(organization__slug=plan.organization).exists():
        return _ask_system(plan)  # who belongs there is somebody's choice
    return _ask_system(replace(plan, operator=operator))


def _ask_organization(operator: str) -> Plan:
    guess = re.sub(r"[^a-z0-9]+", "-", operator.rpartition("@")[2].rpartition(".")[0].rpartition(".")[2]).strip("-")
    short = ask("Short name of your organization, in lowercase letters, digits and hyphens", slug, guess or "main")
    return Plan(organization=short, name=ask("Its name, for people", name, titled(short)))


def _ask_system(plan: Plan) -> Plan:
    if plan.organization is None or Platform.objects.filter(organization__slug=plan.organization).exists():
        return plan
    system = ask(
        "Where its applications run: dokploy, coolify, manifest (a file that describes them), or later",
        _system,
        "later",
    )
    if system == "manifest":
        return replace(plan, manifest=ask("The manifest's file", readable))
    if system not in SYSTEMS:
        return plan
    url = ask("Its address, such as https://deploy.example.com", lambda text: _clean(clean_address, text))
    key = ask("Its API key or token", lambda text: _clean(clean_key, text), read=getpass)
    return replace(plan, kind=system, url=url, key=key)


def _system(text: str) -> str:
    if text not in (*SYSTEMS, "manifest", "later"):
        raise CommandError(f"{text} is none of them.")
    return text


def ask(question: str, check: Callable[[str], str], default: str = "", read: Callable[[str], str] | None = None) -> str:
    """What somebody answers, once it is good; nothing means the default."""
    while True:
        answer = (read or input)(f"{question}{f' [{default}]' if default else ''}: ").strip() or default
        try:
            if answer:
                return check(answer)
        except CommandError as error:
            print(error)  # noqa: T201  (a terminal's answer)
