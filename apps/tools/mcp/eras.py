"""Which revision of MCP a message speaks, and what that revision wants of the headers.

2026-07-28 has no handshake: each request tells its version. The revisions before begin with `initialize`.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from apps.tools.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    UNSUPPORTED_PROTOCOL_VERSION,
    Message,
    RpcError,
)

MODERN = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26")  # newest first
SUPPORTED = [MODERN, *HANDSHAKE]
ASSUMED = "2025-03-26"  # of a handshake era's request without the header
PREFIX = "io.modelcontextprotocol/"
# What Mcp-Name repeats, by method.
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True, slots=True)
class Era:
    version: str

    @property
    def is_modern(self) -> bool:
        return self.version == MODERN

    @property
    def knows_links(self) -> bool:
        """Whether a tool may answer with links to resources: they came with 2025-06-18."""
        return self.version != ASSUMED


def era_of(message: Message, headers: Mapping[str, str]) -> Era:
    """Raises RpcError where headers and body do not agree, or the version is none of ours."""
    header = _trimmed(headers.get("MCP-Protocol-Version"))
    if f"{PREFIX}protocolVersion" in message.meta or header == MODERN:
        return _modern(message, headers, header)
    if header is not None and header not in HANDSHAKE:
        raise _unsupported(header, message)
    return Era(header or ASSUMED)


def _modern(message: Message, headers: Mapping[str, str], header: str | None) -> Era:
    version = message.meta.get(f"{PREFIX}protocolVersion")
    if not message.is_notification:
        _check_meta(message)
        _check_header(message, "MCP-Protocol-Version", header, version)
        _check_header(message, "Mcp-Method", _trimmed(headers.get("Mcp-Method")), message.method)
        if message.method in NAMED:
            name = message.params.get(NAMED[message.method])
            _check_header(message, "Mcp-Name", _decoded(headers.get("Mcp-Name")), name)
    if version not in (MODERN, None):
        raise _unsupported(str(version), message)
    return Era(MODERN)


def _check_meta(message: Message) -> None:
    meta = message.meta
    if not isinstance(meta.get(f"{PREFIX}protocolVersion"), str):
        raise RpcError(INVALID_PARAMS, f"params._meta must have {PREFIX}protocolVersion.", 400, id=message.id)
    if not isinstance(meta.get(f"{PREFIX}clientCapabilities"), dict):
        raise RpcError(INVALID_PARAMS, f"params._meta must have {PREFIX}clientCapabilities.", 400, id=message.id)


def _check_header(message: Message, name: str, header: str | None, value: object) -> None:
    if header == value:  # both may be missing: a call that names no tool is the method's to refuse
        return
    if header is None:
        raise RpcError(HEADER_MISMATCH, f"The header {name} is missing.", 400, id=message.id)
    raise RpcError(HEADER_MISMATCH, f"The header {name} does not say what the body says.", 400, id=message.id)


def _unsupported(requested: str, message: Message) -> RpcError:
    data = {"supported": SUPPORTED, "requested": requested[:100]}
    sentence = f"This protocol version is not supported. Supported are {', '.join(SUPPORTED)}."
    return RpcError(UNSUPPORTED_PROTOCOL_VERSION, sentence, 400, data, message.id)


def _trimmed(value: str | None) -> str | None:
    return None if value is None else value.strip(" \t")


def _decoded(value: str | None) -> str | None:
    """A name that a header cannot hold comes as =?base64?…?=."""
    value = _trimmed(value)
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except ValueError:  # not base64, not even ASCII, or not UTF-8 inside
        return value
