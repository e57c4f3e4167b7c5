"""What commands take as arguments: organizations by slug or id, and people by e-mail address."""

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email

from apps.orgs.models import Organization
from apps.orgs.models.fields import validate_plain
from apps.orgs.models.people import fold_email


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
        validate_plain(email)
    except ValidationError:
        raise CommandError(f"{email} is not an e-mail address.") from None
    return email
