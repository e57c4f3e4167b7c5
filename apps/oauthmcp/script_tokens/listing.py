"""Tokens for scripts as pages list them: those that work, and for a while those that ended."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.oauthmcp.consent import SCOPE_DESCRIPTIONS
from apps.oauthmcp.models import Authorization, AuthorizationQuerySet
from apps.orgs.models import Organization, User

SHOWN = timedelta(days=30)  # after its end; then its row is deleted (pruning.py)
MAX_ENDED = 50  # on one page


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token in the words of a page."""

    authorization: Authorization

    @property
    def name(self) -> str:
        return self.authorization.script_token.name

    @property
    def may(self) -> list[str]:
        scopes = self.authorization.scope.split()
        return [SCOPE_DESCRIPTIONS[scope][0] for scope in scopes if scope in SCOPE_DESCRIPTIONS]

    @property
    def ended_at(self) -> datetime | None:
        """The first moment at which it did not work any more. None: it has not ended."""
        changed = self.authorization.membership.user.password_changed_at
        ends = [self.authorization.revoked_at, self.authorization.expires_at]
        if changed and changed > self.authorization.created:
            ends.append(changed)
        end = min(end for end in ends if end)
        return end if end <= timezone.now() else None

    @property
    def why_ended(self) -> str:
        match self.ended_at:
            case None:
                return ""
            case self.authorization.revoked_at:
                return self.authorization.script_token.get_ended_by_display()
            case self.authorization.expires_at:
                return "Its time was over"
        return "The password was changed"

    @property
    def is_locked(self) -> bool:
        return not self.authorization.membership.user.is_active


def of_user(user: User) -> AuthorizationQuerySet:
    return _tokens().filter(membership__user=user)


def of_organization(organization: Organization) -> AuthorizationQuerySet:
    return _tokens().filter(membership__organization=organization)


def working(tokens: AuthorizationQuerySet) -> QuerySet[Authorization]:
    """Not ended, the newest first."""
    return _in_full(tokens.not_ended()).order_by("-created", "id")


def ended(tokens: AuthorizationQuerySet) -> list[ListedToken]:
    """Those that ended lately, the last first."""
    now = timezone.now()
    since = now - SHOWN
    changed = "membership__user__password_changed_at"
    rows = tokens.filter(
        Q(revoked_at=None, expires_at__gt=now, **{f"{changed}__gt": F("created"), f"{changed}__gte": since})
        | Q(revoked_at__gte=since)
        | Q(revoked_at=None, expires_at__gte=since, expires_at__lte=now)
    )
    listed = [ListedToken(row) for row in _in_full(rows).order_by("-created", "id")[:MAX_ENDED]]
    return sorted(listed, key=lambda token: token.ended_at or now, reverse=True)


def _tokens() -> AuthorizationQuerySet:
    return Authorization.objects.filter(script_token__isnull=False)


def _in_full(tokens: AuthorizationQuerySet) -> QuerySet[Authorization]:
    return tokens.select_related("script_token", "membership__organization", "membership__user")
