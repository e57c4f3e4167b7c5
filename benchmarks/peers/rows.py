"""What the asynchronous peers ask: a pool of asyncpg, whose statements are prepared once for each connection."""

import os
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import asyncpg

BEARER = """
SELECT o.id, o.synced_at
FROM oauthmcp_accesstoken t
JOIN oauthmcp_authorization z ON z.id = t.authorization_id
JOIN orgs_membership m ON m.id = z.membership_id
JOIN orgs_user u ON u.id = m.user_id
JOIN orgs_organization o ON o.id = m.organization_id
WHERE t.token_checksum = $1 AND t.expires > $2 AND z.revoked_at IS NULL AND z.expires_at > $2 AND u.is_active
"""
APPS = """
SELECT a.id, a.external_id, a.name, a.slug, a.description, a.project_id, p.name, a.environment_id, e.name, a.kind,
    a.status, a.upstream_status, a.source_type, a.repository, a.branch, a.image, a.connection_id, a.primary_url,
    a.dashboard_url, h.level_1, h.reason_1, a.last_deployed_at, a.created_at
FROM orgs_app a
JOIN orgs_project p ON p.id = a.project_id
LEFT JOIN orgs_environment e ON e.id = a.environment_id
LEFT JOIN orgs_healthtimetable h ON h.app_id = a.id
WHERE a.organization_id = $1 AND a.hidden_at IS NULL
ORDER BY a.sort_key, a.id LIMIT $2
"""


async def make_pool() -> asyncpg.Pool:
    """A connection for each of the load's, none of them made while it is measured."""
    return await asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=8, max_size=8)


async def organization_of(pool: Any, token: str) -> tuple[str, datetime | None] | None:
    row = await pool.fetchrow(BEARER, sha256(token.encode()).hexdigest(), datetime.now(UTC))
    return (row[0], row[1]) if row else None


async def list_apps(pool: Any, organization_id: str, synced_at: datetime | None, limit: int) -> dict[str, Any]:
    rows = await pool.fetch(APPS, organization_id, limit + 1)
    items = [
        {
            "id": id, "externalId": external_id, "name": name, "slug": slug, "description": description,
            "projectId": project_id, "projectName": project_name, "environmentId": environment_id,
            "environmentName": environment_name, "kind": kind, "status": status, "upstreamStatus": upstream_status,
            "source": {
                "type": source_type, "repository": repository, "branch": branch, "image": image,
                "connectionId": connection_id,
            },
            "primaryUrl": primary_url, "dashboardUrl": dashboard_url, "health": level, "healthReason": reason,
            "lastDeployedAt": last_deployed_at, "createdAt": created_at,
        }
        for (id, external_id, name, slug, description, project_id, project_name, environment_id, environment_name,
             kind, status, upstream_status, source_type, repository, branch, image, connection_id, primary_url,
             dashboard_url, level, reason, last_deployed_at, created_at) in rows[:limit]
    ]  # fmt: skip
    return {"items": items, "nextCursor": None, "syncedAt": synced_at}
