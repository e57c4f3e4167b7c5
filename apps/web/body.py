"""Request bodies: JSON as strict as the contract, for both doors."""

import json
import re
from functools import lru_cache
from typing import Any, NoReturn

from django.http import HttpRequest

from apps.web.exceptions import ENDED_TOO_EARLY, InvalidInput, Refused

MAX_BODY = 64 * 1024
MAX_DEPTH = 32
MAX_KNOWN_BYTES = 512  # of a body that is remembered
TOO_DEEP = f"The JSON is nested too deeply: at most {MAX_DEPTH} levels are read."
NO_TEXT = re.compile("[\x00\ud800-\udfff]")
LENGTH = re.compile(r"[0-9]{1,4000}")  # Python refuses to read longer numbers, and servers longer headers


def read_object(request: HttpRequest) -> dict[str, Any]:
    """The body as a JSON object; a truly empty one counts as {}. Raises Refused and InvalidInput."""
    raw = read_body(request)
    return dict(_known_object(raw)) if len(raw) <= MAX_KNOWN_BYTES else _parse_object(raw)


@lru_cache(maxsize=1024)  # most calls send what was sent before
def _known_object(raw: bytes) -> dict[str, Any]:
    return _parse_object(raw)


def _parse_object(raw: bytes) -> dict[str, Any]:
    value = parse(raw) if raw else {}
    if not isinstance(value, dict):
        raise InvalidInput.because(None, "The body must be a JSON object, such as {}.", "not_an_object")
    return value


def read_body(request: HttpRequest) -> bytes:
    """The body's bytes, after type and length were found good."""
    meta = request.META
    length = meta.get("CONTENT_LENGTH") or ""
    chunked = "HTTP_TRANSFER_ENCODING" in meta
    # curl sends neither a type nor a length with `-X POST` alone: there is nothing whose type could be wrong.
    if request.content_type != "application/json" and (request.content_type or length not in ("", "0") or chunked):
        raise Refused(415, "unsupported_media_type", "Send the input as application/json.")
    if chunked:
        raise Refused(411, "length_required", "Send the body with a Content-Length, not in chunks.")
    if length and not LENGTH.fullmatch(length):
        raise Refused(411, "length_required", "Content-Length must be a number.")
    expected = int(length or 0)
    if expected > MAX_BODY:
        raise Refused(413, "too_large", f"The body may have at most {MAX_BODY} bytes.")
    # Not `request.body`, which would look for its size three times more; whoever asks for that later gets the same.
    request._body = body = request.read(expected)
    if len(body) < expected:  # the part that came may well be JSON, or nothing
        _refuse(ENDED_TOO_EARLY)
    return body


def parse(raw: bytes) -> Any:
    """JSON without duplicate keys, NaN, Infinity, NUL, lone surrogates or deep nesting. Raises InvalidInput."""
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
        _check(value, MAX_DEPTH)
    except InvalidInput:
        raise
    except UnicodeDecodeError:
        _refuse("The body is not UTF-8: send it so.")
    except RecursionError:
        _refuse(TOO_DEEP)
    except json.JSONDecodeError as error:
        _refuse(f"The body is not JSON: correct line {error.lineno}, column {error.colno}.")
    except ValueError:  # an integer of thousands of digits
        _refuse("A number in the JSON is too long: write a smaller one.")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        _refuse("An object has the same key twice: leave one out.")
    return value


def _constant(_: str) -> NoReturn:
    _refuse("NaN and Infinity are not JSON: write a number, or leave it out.")


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        _refuse("A number in the JSON is too large: write a smaller one.")
    return value


def _check(value: Any, depth: int) -> None:
    if depth == 0:
        _refuse(TOO_DEEP)
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, member in value.items():
            _check_text(key)
            _check(member, depth - 1)
    elif isinstance(value, list):
        for member in value:
            _check(member, depth - 1)


def _check_text(text: str) -> None:
    if found := NO_TEXT.search(text):
        what = "NUL (U+0000)" if found[0] == "\0" else "half of a surrogate pair"
        _refuse(f"Text may not contain {what}: leave that out.")


def _refuse(msg: str) -> NoReturn:
    raise InvalidInput.because(None, msg, "json_invalid")
