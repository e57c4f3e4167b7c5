"""Parts of openapi.json that every app's description may use: headers."""

from typing import Any

RETRY_AFTER: dict[str, Any] = {
    "Retry-After": {"description": "Seconds to wait before a retry.", "required": True, "schema": {"type": "integer"}}
}
ALLOW: dict[str, Any] = {
    "Allow": {"description": "The allowed methods.", "required": True, "schema": {"type": "string"}}
}
