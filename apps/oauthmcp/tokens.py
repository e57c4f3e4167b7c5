"""Access token validation: user, organization and scopes of a token, in one query."""

import json
import re
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp.parameters import canonical_resource
from apps.oauthmcp.script_tokens.format import is_script_token
from apps.oauthmcp.uses import PRECISION, uses
from apps.orgs.callers import SCOPES, Caller, Viewer
from apps.orgs.cursors import fetch
from apps.orgs.scope import scope_of
from apps.orgs.versions import VERSION_COLUMNS, VERSION_JOINS

# The format of server.new_access_token. Anything else that is no token for scripts either costs no query.
ACCESS_TOKEN = re.compile(r"porthole_at_[A-Za-z0-9_-]{43}")
# SQL, because every call begins with this, and the ORM takes about ten times as long. The conditions are those of
# AuthorizationQuerySet.active(), and the token's own. A database compares JSON as it keeps it, so both agree on `=`.
LOOKUP = f"""
SELECT z.id, z.last_used_at IS NULL OR z.last_used_at < %s, t.scope, c.client_id, m.role, u.id, u.email, u.name, o.id,
    o.synced_at, {VERSION_COLUMNS}
FROM oauthmcp_accesstoken t
JOIN oauthmcp_authorization z ON z.id = t.authorization_id
JOIN oauthmcp_application c ON c.id = z.application_id
JOIN orgs_membership m ON m.id = z.membership_id
JOIN orgs_user u ON u.id = m.user_id
JOIN orgs_organization o ON o.id = m.organization_id{VERSION_JOINS}
WHERE t.token_checksum = %s AND t.expires > %s AND t.resource = %s
AND z.revoked_at IS NULL AND z.expires_at > %s
AND u.is_active AND (u.password_changed_at IS NULL OR u.password_changed_at <= z.created)
"""  # noqa: S608


def authenticate_access_token(token: str) -> Caller | None:
    """The caller of a valid access token; None where it is unknown, expired or revoked."""
    if not (ACCESS_TOKEN.fullmatch(token) or is_script_token(token)):
        return None
    row = _look_up(token)
    if row is None:
        return None
    (authorization_id, is_use_due, scope, client_id, role, user_id, email, name, *organization) = row
    authorization_id = _uuid(authorization_id)
    if is_use_due:
        uses.note(authorization_id, timezone.now())
    return Caller(
        org=scope_of(*organization),
        viewer=Viewer(email, name or None, role),
        scopes=_known_scopes(scope),
        user_id=user_id,
        client_id=client_id,
        authorization_id=authorization_id,
    )


@lru_cache(maxsize=256)
def _known_scopes(scope: str) -> frozenset[str]:
    return frozenset(scope.split()) & SCOPES.keys()


def _uuid(id: UUID | str) -> UUID:
    """SQLite keeps them as text."""
    return id if isinstance(id, UUID) else UUID(id)


def _look_up(token: str) -> Any:
    now = timezone.now()
    rows = fetch(LOOKUP, [now - PRECISION, hash_of(token), now, _as_json(canonical_resource()), now])
    return rows[0] if rows else None


@lru_cache(maxsize=1)
def _as_json(resource: str) -> str:
    return json.dumps([resource])
