"""Making operators and members, as commands do it, and what they do next. What is wrong is a CommandError."""

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import transaction
from django.urls import reverse

from apps.accounts.invitations import renew
from apps.orgs.management.named import address
from apps.orgs.models import Invitation, Membership, Organization, User


def make_operator(email: str, password: str) -> User:
    """Somebody new, who may do everything in the admin."""
    email = free_address(email)
    try:
        validate_password(password, User(email=email))
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None
    return User.objects.create_superuser(email, password)


def free_address(email: str) -> str:
    """An e-mail address, as it is stored, that nobody has yet."""
    email = address(email)
    if User.objects.filter(email=email).exists():
        raise CommandError(f"There is already a user {email}. An operator can make it one too, in the admin.")
    return email


def operators_next_step(operator: User) -> str:
    factor = ""
    if settings.OPERATORS_NEED_SECOND_FACTOR:
        factor = " It asks for a second factor the first time: have an authenticator app at hand."
    return (
        f"Next, {operator.email} signs in at {settings.PUBLIC_URL}{reverse('admin:index')} with this address and the "
        f"password.{factor} Operators see every organization there; to let apps look at one, they must be a member of "
        f"it: manage.py add_member ORGANIZATION {operator.email}"
    )


@transaction.atomic
def add_member(
    organization: Organization, email: str, role: str | None = None, name: str = ""
) -> tuple[Membership, bool]:
    """The membership, and whether it is new or its role has changed. `role`: None stands for the one they have.

    Somebody new is a member, and gets an account without a password.
    """
    email = address(email)
    user = User.objects.filter(email=email).first() or _new_user(email, name)
    membership, is_new = Membership.objects.get_or_create(
        organization=organization, user=user, defaults={"role": role or Membership.Role.MEMBER}
    )
    if role is None or role == membership.role:
        return membership, is_new
    membership.role = role
    membership.save(update_fields=["role"])
    return membership, True


def members_next_step(member: User) -> str:
    if not member.is_active:
        return f"The account of {member.email} is switched off. An operator can switch it on in the admin."
    if member.has_usable_password():
        return f"{member.email} signs in with their password: {settings.PUBLIC_URL}{reverse('account')}"
    if settings.MAIL_IS_SET_UP:
        return (
            f"{member.email} has no password yet. Next, they ask for a mail with which they choose one: "
            f"{settings.PUBLIC_URL}{reverse('account_reset_password')} (or run this again with --link, and give them "
            "the link that it prints)."
        )
    return (
        f"{member.email} has no password yet, and this installation cannot send mail (EMAIL_URL). Next, run this again "
        "with --link, and give them the link that it prints: with it they choose one."
    )


def link_for(membership: Membership) -> str:
    """An invitation's link, with which a member without a password chooses one; what to do with it. Told only once."""
    member = membership.user
    invitation = Invitation(organization=membership.organization, email=member.email, role=membership.role)
    link = renew(invitation)
    return (
        f"With this link, {member.email} chooses a password. Whoever opens it first can do so: send it to nobody else. "
        f"It works once, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC, and is not shown again.\n{link}"
    )


def _new_user(email: str, name: str) -> User:
    user = User(email=email, name=name)
    user.set_unusable_password()
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None
    user.save()
    return user
