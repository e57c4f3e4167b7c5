"""What every app's description of itself may use: headers, and how parts of openapi.json are put together."""

from typing import Any


class ContractError(Exception):
    """openapi.json would not say what the code does. The message names each place."""


def joined(*parts: dict[str, Any]) -> dict[str, Any]:
    """All of them as one. Raises ContractError where two describe different things by the same name."""
    whole: dict[str, Any] = {}
    for part in parts:
        twice = sorted(name for name in part.keys() & whole.keys() if part[name] != whole[name])
        if twice:
            raise ContractError(f"openapi.json would describe two things as {', '.join(twice)}.")
        whole |= part
    return whole


RETRY_AFTER: dict[str, Any] = {
    "Retry-After": {"description": "Seconds to wait before a retry.", "required": True, "schema": {"type": "integer"}}
}
ALLOW: dict[str, Any] = {
    "Allow": {"description": "The allowed methods.", "required": True, "schema": {"type": "string"}}
}


def text(description: str, length: int = 4096, **more: Any) -> dict[str, Any]:
    return {"type": "string", "maxLength": length, "description": description, **more}


def one_of(description: str, *values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values), "description": description}


def list_of(item: dict[str, Any], description: str, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": item, "description": description, **more}


def object_of(properties: dict[str, Any], required: list[str], description: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "description": description, "properties": properties, "required": required, **more}
