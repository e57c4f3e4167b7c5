"""What somebody may know of a client before they authorize it: how old it is, and who of theirs authorized it before.

Only their own organizations count, and only how many people it was: nothing of another organization, and no names.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from apps.oauthmcp.models import Application, Authorization, AuthorizationQuerySet
from apps.oauthmcp.redirects import Kind, kind_of, recipient_of
from apps.orgs.models import Membership, User

# So young, others who authorized it may all have been fooled together.
YOUNG = timedelta(days=7)
MAX_COUNTED = 1000  # authorizations of one client


@dataclass(frozen=True, slots=True)
class ClientHistory:
    """`others` are people of one's own organizations. What somebody revoked does not count, neither for them."""

    registered_at: datetime
    is_registered_by_operators: bool
    is_authorized_by_me: bool
    others: int

    @property
    def is_known(self) -> bool:
        is_young = timezone.now() - self.registered_at < YOUNG
        return self.is_registered_by_operators or self.is_authorized_by_me or (self.others > 0 and not is_young)


def history_of(client: Application, redirect_uri: str, user: User) -> ClientHistory:
    """One query. Whoever authorized the client with another recipient authorized somebody else."""
    ours = Membership.objects.filter(user=user).values("organization_id")
    let_in = Authorization.objects.filter(membership__organization__in=ours, membership__user__is_active=True)
    people = _authorized_by(let_in, client, redirect_uri)
    return ClientHistory(
        registered_at=client.created,
        is_registered_by_operators=client.registration_source == Application.RegistrationSource.MANUAL,
        is_authorized_by_me=user.pk in people,
        others=len(people - {user.pk}),
    )


def has_authorized(user: User, client: Application, redirect_uri: str) -> bool:
    """Whether this user authorized the client with this recipient, and did not revoke that."""
    return bool(_authorized_by(Authorization.objects.filter(membership__user=user), client, redirect_uri))


def needs_warning(history: ClientHistory, redirect_uri: str) -> bool:
    """Of what is not known here and sent to a web address, the address alone tells who it is."""
    return kind_of(redirect_uri) is Kind.WEB and not history.is_known


def _authorized_by(let_in: AuthorizationQuerySet, client: Application, redirect_uri: str) -> set[int]:
    rows = let_in.filter(application=client, revoked_at=None).values_list("membership__user_id", "redirect_uri")
    recipient = recipient_of(redirect_uri)
    # Before redirect URIs were kept, it may have been any that the client registered: each has to be the same.
    registered = [recipient_of(uri) for uri in client.allowed_redirect_uris]
    is_unambiguous = set(registered) == {recipient}
    return {
        user_id
        for user_id, uri in rows.distinct()[:MAX_COUNTED]
        if (recipient_of(uri) == recipient if uri else is_unambiguous)
    }
