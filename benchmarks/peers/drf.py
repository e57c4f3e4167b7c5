"""Django REST framework: a viewset with a ModelSerializer."""

from typing import Any

from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from benchmarks.peers.bearer import organization_of
from benchmarks.peers.models import App
from benchmarks.peers.plain import NAMES, SOURCE


class Bearer(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Any, None]:
        organization: Any = organization_of(request._request)
        if organization is None:
            raise AuthenticationFailed
        organization.is_authenticated = True
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
    dashboardUrl = serializers.CharField(source="dashboard_url")
    health = serializers.CharField(source="judged.level")
    healthReason = serializers.CharField(source="judged.reason")
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
        limit = inputs.validated_data["limit"]
        apps = App.objects.filter(organization=request.user, hidden_at=None)
        apps = apps.select_related("project", "environment", "judged").order_by("sort_key", "id")
        items = self.get_serializer(apps[: limit + 1], many=True).data
        return Response({"items": items[:limit], "nextCursor": None, "syncedAt": request.user.synced_at})
