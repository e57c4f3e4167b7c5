"""Makes somebody a member of an organization."""

from typing import Any

from django.core.management.base import CommandParser

from apps.accounts.management.people import add_member, link_for, members_next_step
from apps.orgs.management.named import organization_named
from apps.orgs.models import Membership
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Makes somebody a member of an organization, or changes a member's role. Somebody new gets an account without "
        "a password, and what they do next is said."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", help="its slug or its id")
        parser.add_argument("email")
        parser.add_argument("--role", choices=Membership.Role.values, help="default: member")
        parser.add_argument("--name", default="", help="the name of somebody new")
        parser.add_argument(
            "--link", action="store_true", help="print a link with which somebody without a password chooses one"
        )

    def handle(self, *, organization: str, email: str, role: str | None, name: str, link: bool, **options: Any) -> None:
        membership, is_changed = add_member(organization_named(organization), email, role, name)
        member, slug = membership.user, membership.organization.slug
        now, already = (" now", "") if is_changed else ("", " already")
        self.stdout.write(f"{member.email} is{now} {membership.role} of {slug}{already}.")
        can_choose = member.is_active and not member.has_usable_password()
        self.stdout.write(link_for(membership) if link and can_choose else members_next_step(member))
