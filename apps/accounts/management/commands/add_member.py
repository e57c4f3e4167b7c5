"""Makes somebody a member of an organization."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from apps.orgs.management.named import address, organization_named
from apps.orgs.models import Membership, Organization, User


class Command(BaseCommand):
    help = (
        "Makes somebody a member of an organization, or changes a member's role. Somebody new gets an account without "
        "a password."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", help="its slug or its id")
        parser.add_argument("email")
        parser.add_argument("--role", choices=Membership.Role.values, help="default: member")
        parser.add_argument("--name", default="", help="the name of somebody new")

    def handle(self, *, organization: str, email: str, role: str | None, name: str, **options: Any) -> None:
        owner, email = organization_named(organization), address(email)
        with transaction.atomic():
            user = User.objects.filter(email=email).first() or _new_user(email, name)
            self.stdout.write(_join(owner, user, role))


def _new_user(email: str, name: str) -> User:
    user = User(email=email, name=name)
    user.set_unusable_password()
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None
    user.save()
    return user


def _join(organization: Organization, user: User, role: str | None) -> str:
    membership, is_new = Membership.objects.get_or_create(
        organization=organization, user=user, defaults={"role": role or Membership.Role.MEMBER}
    )
    if is_new:
        return f"{user.email} is now {membership.role} of {organization.slug}."
    if role is None or role == membership.role:
        return f"{user.email} is {membership.role} of {organization.slug} already."
    membership.role = role
    membership.save(update_fields=["role"])
    return f"{user.email} is now {role} of {organization.slug}."
