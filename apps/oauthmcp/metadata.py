"""Metadata documents: what a client reads to learn what it needs for a door (RFC 9728)."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.tools.base import SCOPES
from apps.tools.render import json_response


@require_safe
def protected_resource(request: HttpRequest, door: str) -> HttpResponse:
    """RFC 9728 §2. `door` is "", "/mcp" or "/api/v1": the resource is the origin and that path."""
    document = {
        "resource": settings.PUBLIC_URL + door,
        "resource_name": "Porthole",
        "resource_documentation": f"{settings.PUBLIC_URL}/api/v1/docs",
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
    }
    return json_response(document, headers={"Cache-Control": "public, max-age=300"})
