"""Clients, authorizations, and the codes and tokens issued for them.

The models are django-oauth-toolkit's, swapped for ours. Codes, tokens and client secrets are kept as SHA-256 hashes
only: they are random, so there is nothing that a salt or a slow hash would protect.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from oauth2_provider.models import (
    AbstractAccessToken,
    AbstractApplication,
    AbstractGrant,
    AbstractIDToken,
    AbstractRefreshToken,
    ApplicationManager,
)

from apps.oauthmcp.names import MAX_NAME, NAMELESS, clean
from apps.oauthmcp.redirects import NotAllowed, is_same, kind_of
from apps.orgs.models import Membership
from apps.orgs.models.fields import ProseField, SearchKeyField
from apps.orgs.models.named import Following, FollowingQuerySet

DOCS_CLIENT = "porthole-docs"  # the "Authorize" button of /api/v1/docs; made by a migration
DOCS_REDIRECT_PATH = "/api/v1/docs/signed-in"
SCRIPT_CLIENT = "porthole-scripts"  # what tokens for scripts are authorizations of; no program can be this client
BUILT_IN = (DOCS_CLIENT, SCRIPT_CLIENT)
GRANT_TYPES = ["authorization_code", "refresh_token"]
CODE_LIFETIME = timedelta(seconds=60)
REFRESH_IDLE_LIFETIME = timedelta(days=30)


class Application(Following, AbstractApplication):
    """A client (RFC 6749 §2)."""

    class AuthMethod(models.TextChoices):
        NONE = "none"
        BASIC = "client_secret_basic"
        POST = "client_secret_post"

    # Its hash; "" for public clients.
    client_secret = models.CharField(max_length=64, blank=True, default="", editable=False)
    token_endpoint_auth_method = models.CharField(max_length=19, choices=AuthMethod, default=AuthMethod.NONE)
    metadata = models.JSONField(
        default=dict, blank=True, help_text="Client metadata of its registration (RFC 7591 §2)."
    )
    authorized_at = models.DateTimeField(
        null=True, editable=False, help_text="When it was first authorized. Empty: it may be deleted as unused."
    )
    # Keyed hashes, until it is authorized: where it registered from, so that nobody's unused clients push out others'.
    registrant_address = models.CharField(max_length=32, blank=True, default="", db_default="", editable=False)
    registrant_network = models.CharField(max_length=32, blank=True, default="", db_default="", editable=False)
    requested_at = models.DateTimeField(
        null=True, editable=False, help_text="When a user was last asked to authorize it for the first time."
    )

    search_key = SearchKeyField(of=("name",), db_default="")

    objects = ApplicationManager.from_queryset(FollowingQuerySet)()

    class Meta:
        verbose_name = "client"
        indexes = [
            models.Index(F("id").desc(), F("search_key"), name="clients_by_age"),
            models.Index(fields=["created"], condition=Q(authorized_at=None), name="never_used_clients"),
            models.Index(
                fields=["registrant_address", "created"], condition=Q(authorized_at=None), name="never_used_by_address"
            ),
            models.Index(
                fields=["registrant_network", "created"], condition=Q(authorized_at=None), name="never_used_by_network"
            ),
        ]

    def __str__(self) -> str:
        return self.display_name if self.name else self.client_id

    def redirect_uri_allowed(self, uri: str) -> bool:
        """Exact match, except for the port of a loopback address (RFC 8252 §7.3)."""
        try:
            kind_of(uri)
        except NotAllowed:
            return False
        return any(is_same(uri, registered) for registered in self.allowed_redirect_uris)

    def is_usable(self, request: Any) -> bool:
        """Whether a program may ask for anything as this client."""
        return self.client_id != SCRIPT_CLIENT

    @property
    def display_name(self) -> str:
        """client_name as one short line, without characters that imitate another: nobody verifies the name."""
        return clean(str(self.name)) or NAMELESS

    @property
    def allowed_redirect_uris(self) -> list[str]:
        if self.client_id == DOCS_CLIENT:  # moves along with PUBLIC_URL
            return [settings.PUBLIC_URL + DOCS_REDIRECT_PATH]
        return str(self.redirect_uris).split()

    @property
    def grant_types(self) -> list[str]:
        return self.metadata.get("grant_types", GRANT_TYPES)

    @property
    def default_redirect_uri(self) -> str | None:
        uris = self.allowed_redirect_uris
        return uris[0] if len(uris) == 1 else None


def keep_built_in(sender: Any, instance: Application, **_: Any) -> None:
    """Raises ProtectedError for a client of our own, however it is deleted. Django's signal."""
    if instance.client_id in BUILT_IN:
        raise models.ProtectedError("Porthole needs this client.", {instance})


class AuthorizationQuerySet(models.QuerySet["Authorization"]):
    def active(self) -> "AuthorizationQuerySet":
        """Not ended, and of an active user. tokens.py has the same in SQL."""
        return self.not_ended().filter(membership__user__is_active=True)

    def not_ended(self) -> "AuthorizationQuerySet":
        """Neither revoked nor expired, of a user with the same password; who may be inactive for now."""
        return self.filter(
            Q(membership__user__password_changed_at=None) | Q(membership__user__password_changed_at__lte=F("created")),
            revoked_at=None,
            expires_at__gt=timezone.now(),
        )

    def of_programs(self) -> "AuthorizationQuerySet":
        """Without tokens for scripts, which have pages of their own."""
        return self.exclude(application__client_id=SCRIPT_CLIENT)

    def revoke(self) -> int:
        """Revokes these with every code and token issued for them."""
        return self.filter(revoked_at=None).update(revoked_at=timezone.now())


class Authorization(models.Model):
    """What one member authorized one client to read in one organization: created by a code, extended by refreshing.

    Its tokens are one family: they are revoked together.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    application = models.ForeignKey(Application, models.CASCADE, related_name="authorizations", verbose_name="client")
    membership = models.ForeignKey(Membership, models.CASCADE, related_name="authorizations")
    scope = models.CharField(max_length=200)
    redirect_uri = models.TextField(
        blank=True, default="", db_default="", editable=False,
        help_text="Where its code was sent. Empty: it is older than this column.",
    )  # fmt: skip
    created = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(help_text="Extended by each refresh.")
    last_used_at = models.DateTimeField(null=True, editable=False, help_text="Accurate to a minute.")
    revoked_at = models.DateTimeField(null=True, editable=False)

    objects = AuthorizationQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="authorizations_by_expiry")]

    def __str__(self) -> str:
        return f"{self.application} for {self.membership}"

    @property
    def redirect_uris(self) -> list[str]:
        """Where its code was sent; of an old one wherever it may have been."""
        return [self.redirect_uri] if self.redirect_uri else self.application.allowed_redirect_uris


class ScriptToken(models.Model):
    """A token for scripts: names an authorization of SCRIPT_CLIENT, whose single access token lasts as long as it."""

    class EndedBy(models.TextChoices):
        OPERATOR = "", "Ended by an operator"
        MEMBER = "member", "Ended by whoever made it"
        OWNER = "owner", "Ended by an owner of the organization"
        ORGANIZATION = "organization", "The organization forbade tokens for scripts"

    authorization = models.OneToOneField(
        Authorization, models.CASCADE, primary_key=True, related_name="script_token", editable=False
    )
    name = ProseField(max_length=MAX_NAME)
    reminded_at = models.DateTimeField(
        null=True, editable=False, help_text="When whoever made it was told that it ends soon."
    )
    ended_by = models.CharField(max_length=12, choices=EndedBy, blank=True, default="", editable=False)

    class Meta:
        verbose_name = "token for scripts"
        verbose_name_plural = "tokens for scripts"

    def __str__(self) -> str:
        return self.name


class Grant(AbstractGrant):
    """An authorization code (RFC 6749 §4.1.2). `code` holds its hash."""

    membership = models.ForeignKey(Membership, models.CASCADE, related_name="+")
    authorization = models.ForeignKey(
        Authorization,
        models.CASCADE,
        null=True,
        related_name="+",
        help_text="The authorization that it was exchanged for.",
    )
    redeemed_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = "authorization code"
        indexes = [models.Index(fields=["expires"], name="grants_by_expiry")]

    def __str__(self) -> str:
        return f"authorization code {self.pk}"  # not its hash, as django-oauth-toolkit has it


class AccessToken(AbstractAccessToken):
    """`token` stays empty, `token_checksum` is its hash."""

    source_refresh_token = None  # one refresh token may be exchanged for several access tokens, when a response is lost
    authorization = models.ForeignKey(Authorization, models.CASCADE, related_name="access_tokens")

    class Meta:
        indexes = [models.Index(fields=["expires"], name="access_tokens_by_expiry")]

    def __str__(self) -> str:
        return f"access token {self.pk}"


class RefreshToken(AbstractRefreshToken):
    """`token` stays empty, `token_checksum` is its hash. `revoked` is when it was rotated."""

    access_token = None
    token_family = None  # that is the authorization
    authorization = models.ForeignKey(Authorization, models.CASCADE, related_name="refresh_tokens")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token_checksum"], name="refresh_token_hashed_once")]
        indexes = [models.Index(fields=["revoked"], name="refresh_tokens_by_rotation")]

    def __str__(self) -> str:
        return f"refresh token {self.pk}"

    def revoke(self) -> None:
        Authorization.objects.filter(pk=self.authorization_id).revoke()


class IDToken(AbstractIDToken):
    """Never issued: Porthole is no OpenID provider. django-oauth-toolkit wants all its models swapped together."""

    class Meta:
        verbose_name = "ID token"


def idle_expiry() -> datetime:
    return timezone.now() + REFRESH_IDLE_LIFETIME
