"""A plain Django view: the ORM's `values()`, and orjson."""

import orjson
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from benchmarks.peers.bearer import columns_of
from benchmarks.peers.models import App

NAMES = {
    "id": "id", "externalId": "external_id", "name": "name", "slug": "slug", "description": "description",
    "projectId": "project_id", "projectName": "project__name", "environmentId": "environment_id",
    "environmentName": "environment__name", "kind": "kind", "status": "status", "upstreamStatus": "upstream_status",
    "primaryUrl": "primary_url", "dashboardUrl": "dashboard_url", "health": "judged__level",
    "healthReason": "judged__reason", "lastDeployedAt": "last_deployed_at", "createdAt": "created_at",
}  # fmt: skip
SOURCE = {
    "type": "source_type", "repository": "repository", "branch": "branch", "image": "image",
    "connectionId": "connection_id",
}  # fmt: skip


@csrf_exempt
def list_apps(request: HttpRequest) -> HttpResponse:
    bearer = columns_of(request)
    if bearer is None:
        return HttpResponse(status=401)
    organization_id, synced_at = bearer
    limit = orjson.loads(request.body).get("limit", 100)
    if not (isinstance(limit, int) and 1 <= limit <= 100):
        return HttpResponse(status=422)
    rows = App.objects.filter(organization_id=organization_id, hidden_at=None).order_by("sort_key", "id")
    items = [
        {name: row[column] for name, column in NAMES.items()}
        | {"source": {name: row[column] for name, column in SOURCE.items()}}
        for row in rows.values(*NAMES.values(), *SOURCE.values())[: limit + 1]
    ]
    answer = {"items": items[:limit], "nextCursor": None, "syncedAt": synced_at}
    return HttpResponse(orjson.dumps(answer), content_type="application/json")
