"""Makes links of invitations, sends them, and makes members of those who accept them."""

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from apps.accounts.mail import NotSent, send
from apps.orgs.models import Invitation, Membership, User


@transaction.atomic
def renew(invitation: Invitation) -> str:
    """Saves it, and returns its link, which nobody can tell later. Older ones of that address and organization end."""
    older = Invitation.objects.filter(organization=invitation.organization, email=invitation.email, accepted_at=None)
    older.delete()
    token = invitation.new_token()
    invitation.save()
    return settings.PUBLIC_URL + reverse("invitation", args=[token])


def send_link(invitation: Invitation, link: str) -> str | None:
    """Why no mail was sent, in a sentence; None where it was. The link works either way."""
    try:
        send(_mail(invitation, link))
    except NotSent as error:
        return str(error)
    return None


def invite(invitation: Invitation) -> tuple[str, str | None]:
    """Its new link, and why that was not sent by mail, where it was not."""
    link = renew(invitation)
    return link, send_link(invitation, link)


def may_see_link(operator: User, invitation: Invitation) -> bool:
    """Whoever has the link chooses the password of an account that has none: only who may do that anyway sees it."""
    invited = User.objects.filter(email=invitation.email).first()
    if invited is None or asks_to_sign_in(invitation, invited):
        return True
    return operator.has_perm("orgs.change_user") and (operator.is_superuser or not invited.is_superuser)


def asks_to_sign_in(invitation: Invitation, invited: User) -> bool:
    """Whether the link alone does not open the account with its address.

    One that came into being later is no business of whoever has seen the link until then.
    """
    return invited.has_usable_password() or not invited.is_active or invited.date_joined > invitation.created_at


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
