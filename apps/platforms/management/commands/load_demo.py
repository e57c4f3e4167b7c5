"""Loads the two demo organizations, the catalogue of templates and the demo user. Local installations only."""

import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from apps.orgs.ids import derived_id
from apps.orgs.models import Membership, Organization, Platform, SourceConnection, User
from apps.orgs.models.people import fold_email
from apps.platforms.management.files import manifest_in
from apps.platforms.snapshot.apply import apply, apply_catalogue
from apps.platforms.snapshot.base import Snapshot
from apps.platforms.snapshot.differences import Changes
from apps.web.management.database_command import DatabaseCommand

FOLDER = Path(__file__).resolve().parents[2] / "demo"
DEMO, SECOND = "demo", "rival-demo"
# Their ids follow from the slugs, so that documented examples work as written on every installation.
ORGANIZATIONS: dict[str, dict[str, Any]] = {
    DEMO: {"name": "Porthole Demo", "plan": "team", "project_limit": 10, "app_limit": 25, "domain_limit": 50},
    SECOND: {"name": "Rival Works", "plan": "starter"},
}
FILES = {DEMO: "demo.yaml", SECOND: "second.yaml"}
DEFAULT_CONNECTIONS = {DEMO: "github-harbour"}  # the operators' choice, which no manifest tells


class Command(DatabaseCommand):
    help = "Loads the demo. Its times are moved so that they are always recent. Local installations only."

    def handle(self, **options: Any) -> None:
        if not settings.IS_LOCAL:
            raise CommandError("The demo has a known password: it is loaded only where PORTHOLE_ENV is local.")
        with self.watching(options["verbosity"]), transaction.atomic():
            catalogue = apply_catalogue(manifest_in(str(FOLDER / "templates.yaml")).snapshot)
            changes = {slug: _load(slug) for slug in ORGANIZATIONS}
            user = _user()
        for name, brought in {"Templates": catalogue, **changes}.items():
            self.stdout.write(f"{name}: {brought}.")
        self.stdout.write(f"Sign in as {user.email}.")


def _load(slug: str) -> Changes:
    organization, _ = Organization.objects.get_or_create(
        slug=slug, defaults={"id": derived_id("org", "demo", slug), **ORGANIZATIONS[slug]}
    )
    platform, _ = Platform.objects.get_or_create(organization=organization, kind=Platform.Kind.MANIFEST, name="default")
    changes = apply(platform, _moved(FOLDER / FILES[slug], timezone.now()), allow_deletions=True)
    if slug in DEFAULT_CONNECTIONS and organization.default_connection is None:
        connections = SourceConnection.objects.filter(platform=platform)
        organization.default_connection = connections.get(external_id=DEFAULT_CONNECTIONS[slug])
        organization.save(update_fields=["default_connection"])
    return changes


def _moved(file: Path, now: datetime) -> Snapshot:
    """The file's snapshot, moved by whole days so that its `asOf` is today's midnight.

    Integer days, so that loading it twice a day changes nothing. Certificates stay about to expire as time passes.
    """
    manifest = manifest_in(str(file))
    if manifest.as_of is None:
        raise CommandError(f"{file} needs asOf.")
    days = (now.astimezone(UTC).date() - manifest.as_of.date()).days
    moved: Snapshot = _with_times_moved(manifest.snapshot, timedelta(days=days))
    return moved


def _with_times_moved(value: Any, by: timedelta) -> Any:
    """A copy of a snapshot (or of what is in one) with every time moved by a timedelta."""
    if isinstance(value, datetime):
        return value + by
    if isinstance(value, tuple):
        return tuple(_with_times_moved(item, by) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        moved = {field.name: _with_times_moved(getattr(value, field.name), by) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **moved)
    return value


def _user() -> User:
    """The demo user, with the password of the settings, owner of the demo organization only."""
    user, _ = User.objects.get_or_create(email=fold_email(settings.DEMO_EMAIL), defaults={"name": "Demo User"})
    user.is_staff = user.is_superuser = user.is_active = True
    if not user.check_password(settings.DEMO_PASSWORD):
        user.set_password(settings.DEMO_PASSWORD)
    user.save()
    Membership.objects.update_or_create(
        organization=Organization.objects.get(slug=DEMO), user=user, defaults={"role": Membership.Role.OWNER}
    )
    return user
