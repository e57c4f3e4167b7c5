"""Sends invitations, and makes members of those who accept them."""

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from apps.accounts.mail import send
from apps.orgs.models import Invitation, Membership, User


@transaction.atomic
def renew(invitation: Invitation) -> str:
    """Saves it, and returns its link, which nobody can tell later. Older ones of that address and organization end."""
    older = Invitation.objects.filter(organization=invitation.organization, email=invitation.email, accepted_at=None)
    older.delete()
    token = invitation.new_token()
    invitation.save()
    return settings.PUBLIC_URL + reverse("invitation", args=[token])


@transaction.atomic
def invite(invitation: Invitation) -> None:
    """Saves it and sends its link. Raises NotSent, and then nothing is left behind."""
    send(_mail(invitation, renew(invitation)))


def _mail(invitation: Invitation, link: str) -> EmailMessage:
    values = {"invitation": invitation, "link": link, "address": settings.PUBLIC_URL}
    text = render_to_string("account/email/invitation_message.txt", values).strip() + "\n"
    organization = " ".join(invitation.organization.name.split())
    return EmailMessage(f"Join {organization} on Porthole", text, to=[invitation.email])


def accept(invitation: Invitation, user: User) -> bool:
    """Makes the user a member, once. False where the invitation was used or ran out meanwhile.

    To be called in a transaction. A member who is invited again keeps their role.
    """
    # The database decides who is first: of two at once, one changes the row.
    if not Invitation.objects.pending().filter(pk=invitation.pk).update(accepted_at=timezone.now()):
        return False
    Membership.objects.get_or_create(
        organization=invitation.organization, user=user, defaults={"role": invitation.role}
    )
    return True
