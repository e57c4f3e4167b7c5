"""django-ninja, with models for what comes in and what goes out."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Field, NinjaAPI, Schema
from ninja.security import HttpBearer

from benchmarks.peers.bearer import organization_of
from benchmarks.peers.models import App


class Bearer(HttpBearer):
    def authenticate(self, request: HttpRequest, token: str) -> Any:
        return organization_of(request)


class Source(Schema):
    type: str = Field(alias="source_type")
    repository: str | None
    branch: str | None
    image: str | None
    connectionId: str | None = Field(alias="connection_id")


class Item(Schema):
    id: str
    externalId: str | None = Field(alias="external_id")
    name: str
    slug: str
    description: str | None
    projectId: str = Field(alias="project_id")
    projectName: str = Field(alias="project.name")
    environmentId: str | None = Field(alias="environment_id")
    environmentName: str | None = Field(alias="environment.name")
    kind: str
    status: str
    upstreamStatus: str | None = Field(alias="upstream_status")
    source: Source
    primaryUrl: str | None = Field(alias="primary_url")
    dashboardUrl: str | None = Field(alias="dashboard_url")
    health: str = Field(alias="judged.level")
    healthReason: str | None = Field(alias="judged.reason")
    lastDeployedAt: datetime | None = Field(alias="last_deployed_at")
    createdAt: datetime = Field(alias="created_at")

    @staticmethod
    def resolve_source(app: App) -> App:
        return app


class Answer(Schema):
    items: list[Item]
    nextCursor: str | None
    syncedAt: datetime | None


class Input(Schema):
    limit: int = Field(default=100, ge=1, le=100)


api = NinjaAPI(auth=Bearer(), docs_url=None)


@api.post("list_apps", response=Answer)
def list_apps(request: HttpRequest, data: Input) -> dict[str, Any]:
    organization = request.auth  # type: ignore[attr-defined]
    apps = App.objects.filter(organization=organization, hidden_at=None)
    apps = apps.select_related("project", "environment", "judged").order_by("sort_key", "id")
    return {"items": list(apps[: data.limit + 1])[: data.limit], "nextCursor": None, "syncedAt": organization.synced_at}
