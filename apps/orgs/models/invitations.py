"""Invitations: a link, sent by mail or handed over, that makes somebody a member once."""

import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.orgs.models.fields import EmailField
from apps.orgs.models.organizations import Membership, Organization
from apps.orgs.models.people import fold_email

LIFETIME = timedelta(days=7)


def _expiry() -> datetime:
    return timezone.now() + LIFETIME


class InvitationManager(models.Manager["Invitation"]):
    def pending(self) -> models.QuerySet["Invitation"]:
        return self.filter(accepted_at=None, expires_at__gt=timezone.now())

    def of_token(self, token: str) -> models.QuerySet["Invitation"]:
        return self.filter(token_hash=hash_of(token))


class Invitation(models.Model):
    """Whoever holds the token has it by mail, or from an operator who answers for the address. Its hash is kept."""

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="invitations")
    email = EmailField("e-mail", max_length=254)
    role = models.CharField(max_length=6, choices=Membership.Role, default=Membership.Role.MEMBER)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(default=_expiry, editable=False)
    accepted_at = models.DateTimeField(null=True, editable=False)
    token_hash = models.CharField(max_length=64, unique=True, editable=False)

    objects = InvitationManager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.email} to {self.organization}"

    def clean(self) -> None:
        self.email = fold_email(self.email)

    def new_token(self) -> str:
        """A new token for this invitation; an earlier one is no longer valid."""
        token = secrets.token_urlsafe(32)
        self.token_hash = hash_of(token)
        return token
