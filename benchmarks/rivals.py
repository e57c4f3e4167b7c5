"""What list_apps is compared with: the same answer from a plain Django view and from a DRF ModelSerializer viewset.

Both look the bearer's organization up and read its applications, as Porthole does, and answer the same JSON.
"""

from datetime import UTC, datetime
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from apps.orgs.models import App, Organization

RIVALS = "rivals"  # a connection of their own, as Django sets it up: what Porthole tunes is not lent to them

NAMES = {
    "id": "id", "externalId": "external_id", "name": "name", "slug": "slug", "description": "description",
    "projectId": "project_id", "projectName": "project__name", "environmentId": "environment_id",
    "environmentName": "environment__name", "kind": "kind", "status": "status", "upstreamStatus": "upstream_status",
    "primaryUrl": "primary_url", "lastDeployedAt": "last_deployed_at", "createdAt": "created_at",
}  # fmt: skip
SOURCE = {
    "type": "source_type", "repository": "repository", "branch": "branch", "image": "image",
    "connectionId": "connection_id",
}  # fmt: skip


def _time(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
    raise TypeError


# A plain Django view


@csrf_exempt
def plain(request: HttpRequest) -> HttpResponse:
    if request.META.get("HTTP_AUTHORIZATION") != f"Bearer {settings.LOCAL_DEV_BEARER}":
        return HttpResponse(status=401)
    limit = orjson.loads(request.body).get("limit", 100)
    organization = Organization.objects.using(RIVALS).values("id", "synced_at").get(slug=settings.LOCAL_DEV_ORG)
    rows = App.objects.using(RIVALS).filter(organization_id=organization["id"]).order_by("sort_key", "id")
    items = [
        {name: row[column] for name, column in NAMES.items()}
        | {"source": {name: row[column] for name, column in SOURCE.items()}}
        for row in rows.values(*NAMES.values(), *SOURCE.values())[: limit + 1]
    ]
    answer = {"items": items, "nextCursor": None, "syncedAt": organization["synced_at"]}
    content = orjson.dumps(answer, default=_time, option=orjson.OPT_PASSTHROUGH_DATETIME)
    return HttpResponse(content, content_type="application/json")


# A DRF viewset with a ModelSerializer


class Bearer(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Organization, None]:
        if request.META.get("HTTP_AUTHORIZATION") != f"Bearer {settings.LOCAL_DEV_BEARER}":
            raise AuthenticationFailed
        organization = Organization.objects.using(RIVALS).get(slug=settings.LOCAL_DEV_ORG)
        organization.is_authenticated = True  # type: ignore[attr-defined]
        return organization, None


class SourceSerializer(serializers.ModelSerializer[App]):
    type = serializers.CharField(source="source_type")
    connectionId = serializers.CharField(source="connection_id")

    class Meta:
        model = App
        fields = tuple(SOURCE)


class AppSerializer(serializers.ModelSerializer[App]):
    externalId = serializers.CharField(source="external_id")
    projectId = serializers.CharField(source="project_id")
    projectName = serializers.CharField(source="project.name")
    environmentId = serializers.CharField(source="environment_id")
    environmentName = serializers.CharField(source="environment.name")
    upstreamStatus = serializers.CharField(source="upstream_status")
    primaryUrl = serializers.CharField(source="primary_url")
    lastDeployedAt = serializers.DateTimeField(source="last_deployed_at")
    createdAt = serializers.DateTimeField(source="created_at")
    source = SourceSerializer(source="*")

    class Meta:
        model = App
        fields = (*NAMES, "source")


class InputSerializer(serializers.Serializer[Any]):
    limit = serializers.IntegerField(default=100, min_value=1, max_value=100)


class AppViewSet(GenericViewSet[App]):
    authentication_classes = [Bearer]
    permission_classes = [IsAuthenticated]
    serializer_class = AppSerializer

    def call(self, request: Request) -> Response:
        inputs = InputSerializer(data=request.data)
        inputs.is_valid(raise_exception=True)
        apps = App.objects.using(RIVALS).filter(organization=request.user).select_related("project", "environment")
        apps = apps.order_by("sort_key", "id")[: inputs.validated_data["limit"] + 1]
        items = self.get_serializer(apps, many=True).data
        return Response({"items": items, "nextCursor": None, "syncedAt": request.user.synced_at})


urlpatterns = [
    path("plain", plain),
    path("serializers", AppViewSet.as_view({"post": "call"})),
]
