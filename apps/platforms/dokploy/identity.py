"""Whose key it is: which organization it is bound to, and what its user may do there."""

from apps.platforms.connector import Identity, UpstreamError
from apps.platforms.dokploy import fields, versions
from apps.platforms.dokploy.api import Api, Refused
from apps.platforms.dokploy.fields import Row
from apps.platforms.snapshot import base

# A member may deploy and change variables wherever it may look (Dokploy has no keys that only read). What a role that
# an organization made for itself may do is not told.
WRITING_ROLES = frozenset({"owner", "admin", "member"})


def identity_of(api: Api, number: str, version: versions.Version) -> Identity:
    """Raises UpstreamError; Refused where the key may not even ask for this."""
    member: Row = {}
    if version >= versions.SESSION:
        session = api.value("user.session")
        key = fields.key(fields.row(session, "session"), "activeOrganizationId") if isinstance(session, dict) else None
    else:
        member = api.row("user.get")  # its answer holds keys as well: two fields of it are looked at
        key = fields.key(member, "organizationId")
    if key is None:
        raise UpstreamError("Dokploy does not say which organization the key is for.", is_permanent=True)
    organization = _organization(api, key)
    role = _role(organization, member)
    return Identity(
        organization_key=key,
        organization_name=fields.cut(base.Project, "name", fields.text(organization, "name")) or key,
        version=fields.cut(base.Template, "version", number) or "unknown",
        role=role,
        can_write=True if role in WRITING_ROLES else None,
    )


def _organization(api: Api, key: str) -> Row:
    """Of all that its user is in. Empty where it cannot be known."""
    try:
        return next((row for row in api.rows("organization.all") if row.get("id") == key), {})
    except Refused:
        return {}


def _role(organization: Row, member: Row) -> str | None:
    members = [member, *fields.rows(organization, "members")]
    roles = (fields.cut(base.AppState, "upstream_status", fields.text(row, "role")) for row in members)
    return next((role for role in roles if role), None)
