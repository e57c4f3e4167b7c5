"""openapi.json: what each application says of itself, composed once and served as bytes."""

from hashlib import sha256
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import condition

from apps.oauthmcp import openapi as oauth
from apps.web.methods import require_safe
from apps.web.once import Once
from apps.web.openapi import joined


def document() -> tuple[bytes, str]:
    """openapi.json and its strong ETag. Made once."""
    return document_of(settings.PUBLIC_URL)


@Once
def document_of(server: str) -> tuple[bytes, str]:
    content = render(server)
    return content, f'"{sha256(content).hexdigest()[:32]}"'


def render(server: str) -> bytes:
    """The document of an installation at `server`, as indented JSON. Raises ContractError."""
    from apps.tools import schema  # which takes a quarter of every program's start, and few need it

    document = schema.build() | {"servers": [{"url": server}]}
    components = document["components"]
    components["schemas"] = joined(components["schemas"], oauth.SCHEMAS)
    components["securitySchemes"]["oauth2"] = oauth.security_scheme(server)
    document["paths"] = joined(document["paths"], oauth.PATHS)
    document["tags"].append(oauth.TAG)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _etag(request: HttpRequest, *args: Any) -> str:
    return document()[1]


@require_safe
@condition(etag_func=_etag)
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document, with a strong ETag; 304 when the caller has it."""
    response = HttpResponse(document()[0], content_type="application/json")
    patch_cache_control(response, public=True, max_age=0, must_revalidate=True)
    return response
