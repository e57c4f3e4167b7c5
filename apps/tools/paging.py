"""Pages of lists: cursors that cannot be forged or carried elsewhere, and pages that close early at 60 KiB."""

import base64
import binascii
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

import orjson

from apps.net.encryption import macs
from apps.orgs.rows import AS_JSON, Row, Rows, Table
from apps.tools.shapes import Shape
from apps.web.characters import escaped_json
from apps.web.exceptions import InvalidInput
from apps.web.render import Encoded, encode

Item = TypeVar("Item")
PAGE_BYTES = 60 * 1024
SIGNATURE_BYTES = 16
CURSOR_LENGTH = 8192
# Inputs that cursors bind also where they are not given: earlier cursors do, and stay good.
BOUND_WHEN_NULL = {
    "list_apps": ("project_id", "environment_id", "status"),
    "list_previews": ("pull_request_number", "status"),
    "list_deployments": ("preview_id", "status", "since", "until"),
    "list_env_vars": ("scope",),
    "list_org_secrets": ("project_id",),
    "list_templates": ("tag",),
}


class Pageable(Protocol):
    """What a page is cut from: `apps.orgs.rows.Rows`, or anything else in a total order."""

    extra: Row

    def page(self, after: list[Any] | None, limit: int) -> tuple[Sequence[Row], bool]: ...

    def position(self, row: Row) -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a list that is asked for.

    `binding` is what a cursor belongs to: the tool, the organization and the inputs (without limit and cursor).
    """

    item: type[Shape]
    binding: str
    limit: int
    cursor: str | None
    synced_at: datetime | None

    def of(self, rows: Pageable) -> Row:
        """The answer of a list tool: items, nextCursor, syncedAt, and the rows' extra."""
        if isinstance(rows, Rows):
            rows.shown = self.item.shown()
        found, has_more = rows.page(self.position(), self.limit)
        if isinstance(found, Table) and found.names[-1] == AS_JSON:
            number, encoded = fit_encoded([row[len(found.names) - 1] for row in found.tuples])
        else:
            items, encoded = fit(self.item.render_all(found))
            number = len(items)
        last = found[number - 1] if has_more or number < len(found) else None
        next_cursor = self.sign(rows.position(last)) if last else None
        return {"items": encoded, "nextCursor": next_cursor, "syncedAt": self.synced_at, **rows.extra}

    def position(self) -> list[Any] | None:
        """Where the page starts; None for the first page. Raises InvalidInput (bad_cursor)."""
        if self.cursor is None:
            return None
        try:
            raw = base64.urlsafe_b64decode(self.cursor.encode("ascii") + b"==")
        except (UnicodeEncodeError, binascii.Error):
            raise _bad_cursor() from None
        signature, payload = raw[:SIGNATURE_BYTES], raw[SIGNATURE_BYTES:]
        # Base64 has several spellings of the same bytes; only ours is accepted.
        is_ours = any(hmac.compare_digest(signature, ours) for ours in self._signatures(payload))
        if not is_ours or _base64(raw) != self.cursor:
            raise _bad_cursor()
        position: list[Any] = orjson.loads(payload)
        return position

    def sign(self, position: list[Any]) -> str:
        """The cursor of what comes after this position."""
        payload = orjson.dumps(position)
        return _base64(next(self._signatures(payload)) + payload)

    def _signatures(self, payload: bytes) -> Iterator[bytes]:
        """That of SECRET_KEY, and then those of its fallbacks."""
        message = self.binding.encode() + b"\0" + payload
        return (digest[:SIGNATURE_BYTES] for digest in macs("porthole.cursor", message))


def fit(items: list[Item], limit: int = PAGE_BYTES) -> tuple[list[Item], Encoded]:
    """As many of the items as fit in `limit` bytes of JSON, and their JSON. Nearly always that is all of them."""
    encoded = encode(items)
    if len(encoded) <= limit:
        return items, Encoded(encoded)
    size, kept = 1, 0  # two brackets, and one comma less than items
    for item in items:
        size += len(encode(item)) + 1
        if size > limit and kept:
            break
        kept += 1
    return items[:kept], Encoded(encode(items[:kept]))


def fit_encoded(items: list[str], limit: int = PAGE_BYTES) -> tuple[int, Encoded]:
    """The same of items that are JSON already: how many there are."""
    encoded = _array(items)
    if len(encoded) <= limit:
        return len(items), Encoded(encoded)
    size, kept = 1, 0
    for item in items:
        size += len(escaped_json(item.encode())) + 1
        if size > limit and kept:
            break
        kept += 1
    return kept, Encoded(_array(items[:kept]))


def _array(items: list[str]) -> bytes:
    return escaped_json(f"[{','.join(items)}]".encode())


def binding_of(tool: str, organization_id: str, inputs: dict[str, Any]) -> str:
    """What is not given binds nothing, so that cursors outlive an input that is added."""
    always = BOUND_WHEN_NULL.get(tool, ())
    rest = {name: value for name, value in inputs.items() if value is not None or name in always}
    rest = {name: value for name, value in rest.items() if name not in ("limit", "cursor", "if_version")}
    return "\0".join((tool, organization_id, orjson.dumps(rest, option=orjson.OPT_SORT_KEYS).decode()))


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")


def _bad_cursor() -> InvalidInput:
    return InvalidInput.because(
        "cursor",
        "This cursor belongs to another call: pass nextCursor with the inputs that it came of, or leave cursor out.",
        "bad_cursor",
    )
