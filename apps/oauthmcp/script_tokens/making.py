"""Making a token for scripts: one transaction, in which two at once come one after the other."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from oauth2_provider.models import set_token_value

from apps.net.encryption import mac
from apps.oauthmcp.models import SCRIPT_CLIENT, AccessToken, Application, Authorization, ScriptToken
from apps.oauthmcp.parameters import canonical_resource
from apps.oauthmcp.script_tokens.format import new_script_token
from apps.orgs.models import Membership, Organization, User
from apps.web.limits import Buckets

log = logging.getLogger("porthole.script_tokens")

MAX_NUMBER = 20  # that one person has at once
MAX_LIFETIME = timedelta(days=365)
NOTICE = timedelta(days=7)  # before its end, its owner is told of it
MADE = Buckets(burst=10, per_second=1 / 60)  # by user


class NotMade(Exception):
    """Why there is no new token, in a sentence for whoever wanted one."""


class MadeAlready(Exception):
    """The same form was sent before. What it made is in `token`, without its value, which nobody knows any more."""

    def __init__(self, token: ScriptToken) -> None:
        super().__init__(token.name)
        self.token = token


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was filled in. `confirmed_at`: when this person last gave a password or a code."""

    form: str
    name: str
    membership_id: int
    scopes: list[str]
    expires_at: datetime
    confirmed_at: datetime


@sensitive_variables("raw")
def make(user: User, wanted: Wanted) -> tuple[ScriptToken, str]:
    """The token, and its value, which is kept nowhere. Raises NotMade, MadeAlready."""
    id = _id_for(user, wanted.form)
    with transaction.atomic():
        _lock(user)
        if made := ScriptToken.objects.filter(pk=id).select_related("authorization").first():
            raise MadeAlready(made)
        _count(user)
        token = _create(id, wanted, _membership_of(user, wanted.membership_id))
        raw = new_script_token()
        _create_access_token(token.authorization, raw)
    log.info("a token for scripts was made", extra={"fields": fields_of(token.authorization)})
    return token, raw


def fields_of(authorization: Authorization) -> dict[str, str]:
    """What a log line says of a token."""
    return {
        "clientId": SCRIPT_CLIENT,
        "authorizationId": str(authorization.pk),
        "organization": authorization.membership.organization_id,
    }


def _id_for(user: User, form: str) -> UUID:
    """The same for the same form, so that sending it twice cannot make two."""
    return UUID(bytes=mac("form for a script token", f"{user.pk} {form}")[:16], version=4)


def _lock(user: User) -> None:
    """Until the transaction ends, this person makes no other token, and changes no password. Raises NotMade."""
    now = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if not now.is_active or now.password != user.password:
        raise NotMade("Your password was changed just now. Sign in again.")


def _count(user: User) -> None:
    """Raises NotMade where there is no room for one more."""
    owned = Authorization.objects.not_ended().filter(membership__user=user, script_token__isnull=False)
    if owned.count() >= MAX_NUMBER:
        raise NotMade(f"You have {MAX_NUMBER} tokens, and there can be no more at once. End one that you do not need.")


def _membership_of(user: User, id: int) -> Membership:
    """Raises NotMade. Its organization is locked: who forbids tokens waits until this one is made, and ends it too."""
    membership = Membership.objects.filter(pk=id, user=user).select_related("organization").first()
    if membership is None:
        raise NotMade("You are no member of this organization any more.")
    locked = Organization.objects.select_for_update(no_key=True).filter(pk=membership.organization_id)
    if not locked.filter(allows_script_tokens=True).exists():
        raise NotMade(f"{membership.organization.name} allows no tokens for scripts.")
    return membership


def _create(id: UUID, wanted: Wanted, membership: Membership) -> ScriptToken:
    authorization = Authorization.objects.create(
        id=id,
        application=Application.objects.get(client_id=SCRIPT_CLIENT),
        membership=membership,
        scope=" ".join(wanted.scopes),
        # A password that is being changed at this moment still ends it.
        created=wanted.confirmed_at,
        expires_at=wanted.expires_at,
    )
    # Of one that ends within the week, the mail of today tells it.
    now = timezone.now()
    reminded_at = now if wanted.expires_at - now <= NOTICE else None
    return ScriptToken.objects.create(authorization=authorization, name=wanted.name, reminded_at=reminded_at)


@sensitive_variables("raw")
def _create_access_token(authorization: Authorization, raw: str) -> None:
    row = AccessToken(
        user=authorization.membership.user,
        application=authorization.application,
        authorization=authorization,
        scope=authorization.scope,
        expires=authorization.expires_at,
        resource=[canonical_resource()],
    )
    set_token_value(row, raw)
    row.save()


def wait_of(user: User, now: float) -> float:
    """Seconds until this person may make another one; 0.0 where that is now."""
    return MADE.take(str(user.pk), now) if settings.RATE_LIMITS else 0.0
