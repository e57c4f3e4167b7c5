"""resources/*: the resources that the suite reads by URI, and the template of one."""

import json
import re
from collections.abc import Mapping
from typing import Any

from apps.tools.mcp.messages import INVALID_PARAMS, RpcError
from apps.tools.mcp.server import CACHE, Call, Method, Result
from tests.conformance.content import PIXEL

TEMPLATE = re.compile(r"test://template/([^/]+)/data")
RESOURCES: Mapping[str, dict[str, str]] = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PIXEL},
}


class FixtureResources:
    capabilities: Mapping[str, Any] = {"resources": {}}

    def __init__(self) -> None:
        self.methods: Mapping[str, Method] = {
            "resources/list": self.list,
            "resources/templates/list": self.templates,
            "resources/read": self.read,
        }

    def list(self, call: Call) -> Result:
        resources = [
            {"uri": uri, "name": uri.rpartition("/")[2], "description": "A test's.", "mimeType": content["mimeType"]}
            for uri, content in RESOURCES.items()
        ]
        return {"resources": resources, **_cache(call)}

    def templates(self, call: Call) -> Result:
        template = {"uriTemplate": "test://template/{id}/data", "name": "data", "mimeType": "application/json"}
        return {"resourceTemplates": [template], **_cache(call)}

    def read(self, call: Call) -> Result:
        uri = str(call.params.get("uri"))
        content = RESOURCES.get(uri) or _of_template(uri)
        if content is None:
            raise RpcError(INVALID_PARAMS, "Resource not found", data={"uri": uri})
        return {"contents": [{"uri": uri, **content}], **_cache(call)}


def _of_template(uri: str) -> dict[str, str] | None:
    match = TEMPLATE.fullmatch(uri)
    if match is None:
        return None
    data = {"id": match[1], "templateTest": True, "data": f"Data for ID: {match[1]}"}
    return {"mimeType": "application/json", "text": json.dumps(data)}


def _cache(call: Call) -> Mapping[str, Any]:
    return CACHE if call.era.is_modern else {}
