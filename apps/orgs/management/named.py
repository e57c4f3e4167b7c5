"""What commands take as arguments: organizations by slug or id, and files."""

import sys
from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email

from apps.orgs.models import Organization
from apps.orgs.models.people import fold_email
from apps.orgs.sync.manifest import Manifest, ManifestError, read_manifest
from apps.orgs.sync.yaml_tree import MAX_BYTES


def organization_named(name: str) -> Organization:
    """The organization with this slug or id. Raises CommandError."""
    column = "id" if name.startswith("org_") else "slug"
    organization = Organization.objects.filter(**{column: name}).first()
    if organization is None:
        raise CommandError(f"There is no organization {name}. Make it first: manage.py create_organization")
    return organization


def address(email: str) -> str:
    """An e-mail address as it is stored. Raises CommandError."""
    email = fold_email(email)
    try:
        validate_email(email)
    except ValidationError:
        raise CommandError(f"{email} is not an e-mail address.") from None
    return email


def manifest_in(file: str) -> Manifest:
    """The manifest in a file, or on standard input for `-`. Raises CommandError with everything that is wrong."""
    try:
        return read_manifest(_content(file))
    except ManifestError as error:
        count = len(error.problems)
        found = "1 problem" if count == 1 else f"{count} problems"
        raise CommandError("\n".join([f"Nothing was changed: {found} in {file}.", *error.problems])) from None


def _content(file: str) -> bytes:
    try:
        if file == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(file).open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
