"""Which settings may not be combined. `manage.py check` reports them, and serving refuses to start (`refuse`)."""

import logging
import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection

from apps.net.addresses import host_of, is_loopback
from apps.orgs.models import Organization, User
from apps.orgs.models.people import fold_email
from apps.orgs.search_indexes import EXTENSIONS, missing_indexes
from apps.platforms.models import PlatformConnection
from apps.sources.models import SourceCredentials
from config import files

log = logging.getLogger("porthole.settings")

MINIMUM_SECRET_KEY = 50
MINIMUM_BOOTSTRAP_SECRET = 32
TOKEN = re.compile(r"[!-~]*")


@register("porthole")
def settings_rules(**_: Any) -> list[CheckMessage]:
    return [Error(sentence, id=f"porthole.E{number:03}") for number, sentence in _broken_rules()]


def _broken_rules() -> Iterator[tuple[int, str]]:
    env = settings.PORTHOLE_ENV
    if env == "local" and not is_loopback(host_of(settings.PUBLIC_URL)):
        yield 1, "PUBLIC_URL must be a loopback address such as http://localhost:8000, because PORTHOLE_ENV is local."
    if env == "production" and not settings.PUBLIC_URL.startswith("https://"):
        yield 2, "PUBLIC_URL must start with https://, because PORTHOLE_ENV is production."
    if env != "local" and settings.LOCAL_DEV_BEARER:
        yield 4, f"LOCAL_DEV_BEARER must not be set, because PORTHOLE_ENV is {env}: it works in local only."
    if env != "preview" and settings.E2E_BOOTSTRAP_SECRET:
        yield 5, f"E2E_BOOTSTRAP_SECRET must not be set, because PORTHOLE_ENV is {env}: it works in preview only."
    if env == "preview" and settings.E2E_BOOTSTRAP_SECRET:
        if len(settings.E2E_BOOTSTRAP_SECRET) < MINIMUM_BOOTSTRAP_SECRET:
            yield 6, f"E2E_BOOTSTRAP_SECRET must have at least {MINIMUM_BOOTSTRAP_SECRET} characters."
        if not settings.BOOTSTRAP_ORG:
            yield 7, "BOOTSTRAP_ORG must name the organization that E2E_BOOTSTRAP_SECRET sees."
    for name in ("LOCAL_DEV_BEARER", "E2E_BOOTSTRAP_SECRET"):
        if not TOKEN.fullmatch(getattr(settings, name)):
            yield 9, f"{name} may hold only visible ASCII characters: no other token fits in a header."
    if env != "local" and settings.MAIL_IS_PRINTED:
        yield 10, f"EMAIL_URL must not be console:, because PORTHOLE_ENV is {env}: links in mails open accounts."
    if env != "local" and not settings.RATE_LIMITS:
        yield 8, f"RATE_LIMITS must be on, because PORTHOLE_ENV is {env}."
    yield from _broken_key_rules(env)
    yield from _broken_file_rules()


def _broken_key_rules(env: str) -> Iterator[tuple[int, str]]:
    if env == "local":
        return
    if len(settings.SECRET_KEY) < MINIMUM_SECRET_KEY:
        yield 3, f"SECRET_KEY must have at least {MINIMUM_SECRET_KEY} characters, because PORTHOLE_ENV is {env}."
    if any(len(key) < MINIMUM_SECRET_KEY for key in settings.SECRET_KEY_FALLBACKS):
        yield 12, f"SECRET_KEY_FALLBACKS must be keys of at least {MINIMUM_SECRET_KEY} characters, between commas."


def _broken_file_rules() -> Iterator[tuple[int, str]]:
    path = files.open_to_others(settings.DATA_DIR, settings.DATABASES["default"])
    if path and not settings.IS_LOCAL:
        yield 11, f"DATA_DIR and its database must be the own ones of the user that Porthole runs as. Not so: {path}"


@register(Tags.database)
def database_rules(app_configs: Any = None, databases: Any = None, **_: Any) -> list[CheckMessage]:
    """Rules that need rows. Silent while the tables are not there yet, so that `migrate` can make them."""
    try:
        tables = connection.introspection.table_names() if databases else []
        if Organization._meta.db_table not in tables:
            return []
        rules = list(_broken_row_rules())
        if {PlatformConnection._meta.db_table, SourceCredentials._meta.db_table} <= set(tables):
            rules += _broken_credential_rules()
        errors = [Error(sentence, id=f"porthole.E{number:03}") for number, sentence in rules]
        return [*errors, *_slow_searches()]
    except DatabaseError:
        return []  # /readyz tells that the database does not answer; it may be on its way


def _broken_row_rules() -> Iterator[tuple[int, str]]:
    if settings.IS_LOCAL and settings.LOCAL_DEV_ORG_IS_SET and not _organization_exists(settings.LOCAL_DEV_ORG):
        yield 20, "LOCAL_DEV_ORG names an organization that does not exist."
    if settings.E2E_BOOTSTRAP_SECRET and settings.BOOTSTRAP_ORG and not _organization_exists(settings.BOOTSTRAP_ORG):
        yield 21, "BOOTSTRAP_ORG names an organization that does not exist."
    if not settings.IS_LOCAL and _demo_password_works():
        yield 22, "DEMO_PASSWORD is still the demo account's password here: delete that user or change its password."


def _broken_credential_rules() -> Iterator[tuple[int, str]]:
    is_stored = PlatformConnection.objects.exists() or SourceCredentials.objects.exists()
    if not settings.IS_LOCAL and not settings.ENCRYPTION_KEYS and is_stored:
        yield 23, "ENCRYPTION_KEYS must be set, because a credential is stored: without it nobody can read that."


def _slow_searches() -> Iterator[CheckMessage]:
    if missing_indexes():
        yield checks.Warning(
            f"Searching large organizations is slow: PostgreSQL's extensions {' and '.join(EXTENSIONS)} are missing. "
            "Install them (Debian: postgresql-contrib), let the owner of the database create them, and migrate again.",
            id="porthole.W030",
        )


def _organization_exists(slug: str) -> bool:
    return Organization.objects.filter(slug=slug).exists()


def _demo_password_works() -> bool:
    emails = {"demo@porthole.test", fold_email(settings.DEMO_EMAIL)}
    passwords = {"porthole-demo", settings.DEMO_PASSWORD}
    users = User.objects.filter(email__in=emails, is_active=True)
    return any(user.check_password(password) for user in users for password in passwords)


def refuse_bad_settings() -> None:
    """Raises ImproperlyConfigured with the first broken rule. Called before the first request is served."""
    check_all_rules()
    connection.close()


def check_all_rules() -> None:
    """Raises ImproperlyConfigured with the first broken rule, those that need rows included."""
    problems = run_checks(tags=["porthole", Tags.database], databases=["default"])
    for problem in problems:
        if problem.is_serious():
            raise ImproperlyConfigured(problem.msg)
        if isinstance(problem.id, str) and problem.id.startswith("porthole."):
            log.warning(problem.msg)
