"""The parameters of an OAuth request, from a query, a form or JSON: bounded, and readable in one way only."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from django.http.request import UnreadablePostError

from apps.oauthmcp.errors import OAuthError
from apps.web.body import parse
from apps.web.exceptions import InvalidInput

MAX_BODY = 16 * 1024
MAX_QUERY = 8 * 1024
MAX_VALUE = 4096
MAX_NUMBER = 50
Parameters = list[tuple[str, str]]


def of_query(query: str) -> Parameters:
    """Raises OAuthError."""
    return _checked(_decoded(query, MAX_QUERY, "query"))


def of_body(request: HttpRequest) -> Parameters:
    """From application/x-www-form-urlencoded, as the RFCs say, or JSON, as some clients send. Raises OAuthError."""
    raw = read_body(request)
    if request.META.get("QUERY_STRING"):
        # Secrets in a query end up in logs (RFC 6749 §2.3.1).
        raise OAuthError("invalid_request", "Send the parameters in the body, not in the query.")
    match request.content_type:
        case "application/x-www-form-urlencoded":
            try:
                text = raw.decode("ascii")
            except UnicodeDecodeError:
                raise OAuthError("invalid_request", "The form is not URL-encoded.") from None
            return _checked(_decoded(text, MAX_BODY, "form"))
        case "application/json":
            return _checked(_flat(parse_json(raw, "invalid_request")))
    raise OAuthError("invalid_request", "Send a form: application/x-www-form-urlencoded.")


def read_body(request: HttpRequest, error: str = "invalid_request") -> bytes:
    """The body's bytes, at most 16 KiB. Raises OAuthError."""
    if "HTTP_TRANSFER_ENCODING" in request.META:
        raise OAuthError(error, "Send the body with a Content-Length, not in chunks.", 411)
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()) or len(length) > 12:
        raise OAuthError(error, "Content-Length must be a number.")
    if int(length) > MAX_BODY:
        raise OAuthError(error, f"The body may have at most {MAX_BODY} bytes.", 413)
    try:
        raw = request.body
    except (RequestDataTooBig, UnreadablePostError):
        raise OAuthError(error, "The body cannot be read.") from None
    if len(raw) < int(length):
        raise OAuthError(error, "The body ended too early.")
    return raw


def parse_json(raw: bytes, error: str) -> dict[str, Any]:
    """A JSON object, as strict as the tools' own. Raises OAuthError."""
    try:
        value = parse(raw)
    except InvalidInput as invalid:
        raise OAuthError(error, invalid.problems[0].msg) from None
    if not isinstance(value, dict):
        raise OAuthError(error, "The body must be a JSON object.")
    return value


def value_of(parameters: Parameters, name: str) -> str | None:
    return next((value for key, value in parameters if key == name), None)


def check_resource(parameters: Iterable[tuple[str, str]]) -> None:
    """RFC 8707 §2: every `resource` must name one of our doors. Raises OAuthError."""
    origin = settings.PUBLIC_URL
    doors = {f"{origin}{path}" for path in ("", "/", "/mcp", "/mcp/", "/api/v1", "/api/v1/")}
    for name, value in parameters:
        if name == "resource" and value not in doors:
            raise OAuthError("invalid_target", f"The resource must be {origin}/mcp or {origin}/api/v1.")


def canonical_resource() -> str:
    """What every token is for: both doors, so one name for them (RFC 8707 §2.2), however a client spells it."""
    return str(settings.PUBLIC_URL)


def _decoded(text: str, limit: int, place: str) -> Parameters:
    if len(text) > limit:
        raise OAuthError("invalid_request", f"The {place} may have at most {limit} characters.")
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_NUMBER)
    except ValueError:  # UnicodeDecodeError is one
        raise OAuthError("invalid_request", f"The {place} cannot be read: too many fields, or not UTF-8.") from None


def _flat(value: dict[str, Any]) -> Parameters:
    pairs = []
    for name, member in value.items():
        for one in member if isinstance(member, list) and name == "resource" else [member]:
            if one is not None and not isinstance(one, str):
                raise OAuthError("invalid_request", f"{name[:50]} must be a string.")
            if one is not None:
                pairs.append((name, one))
    return pairs


def _checked(parameters: Parameters) -> Parameters:
    # RFC 6749 §3.1: a parameter without a value counts as left out, and none may come twice. RFC 8707 §2: resource may.
    seen = set()
    for name, value in parameters:
        if "\0" in name or "\0" in value:
            raise OAuthError("invalid_request", "No parameter may contain NUL.")
        if len(value) > MAX_VALUE:
            raise OAuthError("invalid_request", f"{name[:50]} is too long: at most {MAX_VALUE} characters.")
        if name in seen and name != "resource":
            raise OAuthError("invalid_request", f"{name[:50]} comes twice.")
        seen.add(name)
    return [(name, value) for name, value in parameters if value != ""]
