"""Parts of openapi.json that every app's description may use: headers."""

from typing import Any

WAIT: dict[str, Any] = {
    "Retry-After": {"description": "Seconds to wait.", "required": True, "schema": {"type": "integer"}}
}
ALLOW: dict[str, Any] = {
    "Allow": {"description": "The methods there are.", "required": True, "schema": {"type": "string"}}
}
