"""Synthetic users, and the tokens of a program that they let in."""

import json
from typing import Any

from django.conf import settings

from apps.installation.synthetic.rows import ORGANIZATIONS, QUARTER
from apps.installation.synthetic.sizes import Sizes
from apps.installation.synthetic.statements import Statement, Words
from apps.oauthmcp import models as oauthmcp
from apps.orgs import models as orgs
from apps.orgs.callers import SCOPES

FORTNIGHT = 14 * 86400  # seconds


def tokens(sizes: Sizes, client: int) -> list[Statement]:
    """Users, each a member of one organization, and what they authorized one client (its key) to read.

    Half of the tokens are access tokens, of which each authorization's first is still valid; half are for refreshing.
    """
    words = Words(sizes)
    half = -(-sizes.tokens // 2)
    scope = f"'{' '.join(SCOPES)}'"
    authorization = words.uuid("'authorization-' || ({})")
    of_authorization: dict[str, Any] = {
        "authorization_id": authorization.format(f"n % {sizes.authorizations}"),
        "user_id": f"n % {sizes.authorizations} % {sizes.users} + 1000001",
        "application_id": str(client),
        "resource": f"'{json.dumps([settings.PUBLIC_URL])}'",
        "created": words.spread_over(QUARTER, half), "updated": words.spread_over(QUARTER, half),
    }  # fmt: skip
    is_first = f"n < {sizes.authorizations}"
    used = f"CAST(n AS bigint) * {FORTNIGHT} / {sizes.authorizations} + 120"
    return [
        Statement(
            orgs.User, sizes.users,
            {"id": "n + 1000001", "email": "'member-' || n || '@synthetic.invalid'", "name": "'Member ' || n",
             "password": "'!'"},
        ),
        Statement(
            orgs.Membership, sizes.users,
            {"id": "n + 1000001", "organization_id": "s.id", "user_id": "n + 1000001", "role": "'member'"},
            ORGANIZATIONS, f"n % {sizes.organizations}",
        ),
        Statement(
            oauthmcp.Authorization, sizes.authorizations,
            {"id": authorization.format("n"), "application_id": str(client), "scope": scope,
             "membership_id": f"n % {sizes.users} + 1000001", "redirect_uri": "'http://127.0.0.1/callback'",
             "expires_at": words.ago(f"{used} - 30 * 86400"), "last_used_at": words.ago(used),
             "created": words.spread_over(QUARTER, sizes.authorizations)},
        ),
        Statement(
            oauthmcp.AccessToken, half,
            of_authorization | {
                "token": "''", "token_checksum": "MD5('access-' || n) || MD5('token-' || n)", "scope": scope,
                "expires": f"CASE WHEN {is_first} THEN {words.ago('-3600')} ELSE {words.ago('60')} END",
            },
        ),
        Statement(
            oauthmcp.RefreshToken, half,
            of_authorization | {
                "token": "''", "token_checksum": "MD5('refresh-' || n) || MD5('token-' || n)",
                "revoked": f"CASE WHEN {is_first} THEN NULL ELSE {words.ago('3600')} END",
            },
        ),
    ]  # fmt: skip
