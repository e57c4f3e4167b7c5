"""Deployments, domains and previews: what Dokploy says of each, as records."""

import re

from apps.platforms.dokploy import fields
from apps.platforms.dokploy.fields import Row, cut
from apps.platforms.dokploy.statuses import certificate_type_of, deployment_status_of, status_of
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import BIGGEST_INTEGER, Url

COMMIT = re.compile(r"^(?:Commit|Hash): ([0-9a-f]{7,64})", re.MULTILINE)


def deployment_of(
    row: Row, app: str, *, dashboard_url: str | None, preview: str | None = None
) -> base.Deployment | None:
    """Its trigger cannot be known. `title` is the subject of the commit where the description names one."""
    key, created_at = fields.key(row, "deploymentId"), fields.time(row, "createdAt")
    if key is None or created_at is None:
        return None
    title = fields.text(row, "title") or "Deployment"
    commit = COMMIT.search(fields.text(row, "description") or "")
    finished_at = fields.time(row, "finishedAt")
    started_at = fields.time(row, "startedAt")
    if started_at and finished_at and not 0 <= (finished_at - started_at).total_seconds() * 1000 <= BIGGEST_INTEGER:
        started_at = None  # a clock was set in between
    return base.Deployment(
        key=key,
        app=app,
        preview=preview,
        is_preview=preview is not None or row.get("isPreviewDeployment") is True,
        **deployment_status_of(row),
        title=cut(base.Deployment, "title", title.splitlines()[0]) or "Deployment",
        commit_sha=commit[1] if commit else None,
        commit_message=cut(base.Deployment, "commit_message", title) if commit else None,
        created_at=created_at,
        started_at=started_at,
        finished_at=finished_at,
        error_message=cut(base.Deployment, "error_message", fields.text(row, "errorMessage")),
        dashboard_url=dashboard_url,
    )


def domain_of(row: Row, app: str, *, preview: str | None = None) -> base.Domain | None:
    """`port` is the one that the application listens on. Before 0.30 every domain is enabled."""
    key, host = fields.key(row, "domainId"), _host(row)
    path = cut(base.Domain, "path", f"/{(fields.text(row, 'path') or '').lstrip('/')}")
    if key is None or host is None or path is None:
        return None
    port = fields.integer(row, "port")
    return base.Domain(
        key=key,
        app=app,
        preview=preview,
        host=host,
        path=path,
        https=row.get("https") is True,
        port=port if port is not None and 1 <= port <= 65535 else None,
        certificate_type=certificate_type_of(row),
        is_enabled=row.get("enabled") is not False,
        created_at=fields.time(row, "createdAt"),
    )


def preview_of(row: Row, app: str) -> base.Preview | None:
    key, branch = fields.key(row, "previewDeploymentId"), fields.text(row, "branch")
    branch = cut(base.Preview, "branch", branch)
    if key is None or branch is None:
        return None
    domain = domain_of(fields.row(row, "domain"), app)
    return base.Preview(
        key=key,
        app=app,
        pull_request_number=fields.integer(row, "pullRequestNumber"),
        pull_request_title=cut(base.Preview, "pull_request_title", fields.text(row, "pullRequestTitle")),
        pull_request_url=cut(base.Preview, "pull_request_url", fields.text(row, "pullRequestURL")),
        branch=branch,
        url=_url(domain),
        **status_of(row, "previewStatus"),
        created_at=fields.time(row, "createdAt"),
        expires_at=fields.time(row, "expiresAt"),
    )


def _host(row: Row) -> str | None:
    host = (fields.text(row, "host") or "").lower()
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            return None
    return cut(base.Domain, "host", host)


def _url(domain: base.Domain | None) -> str | None:
    if domain is None:
        return None
    url = f"{'https' if domain.https else 'http'}://{domain.host}{domain.path}"
    return None if Url(2000).problem(url) else url
