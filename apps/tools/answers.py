"""A tool's answer: kept from an earlier call where that is still right, else made and kept."""

from datetime import datetime
from functools import lru_cache

import orjson
from django.conf import settings
from django.utils import timezone

from apps.orgs.callers import Caller
from apps.orgs.rows import Row
from apps.orgs.scope import OrgScope
from apps.tools.answer_cache import Answer, AnswerCache
from apps.tools.base import ListTool, Tool
from apps.tools.list_versions import ListVersion, digest_of, version_of
from apps.web.render import Encoded, encode

SYNCED_AT = b',"syncedAt":'
PAGE_FIELDS = ("items", "nextCursor", "syncedAt")

cache = AnswerCache(settings.ANSWER_CACHE_MIB * 2**20)


def answer(caller: Caller, tool: Tool, inputs: Row) -> bytes:
    """What the tool answers to validated inputs, as JSON. Raises whatever the tool raises; nothing is kept of that.

    Who asks for a list with the `version` that they have already is told no more than that it is `isUnchanged`.
    """
    if not tool.versions:
        return encode(tool.call(caller, inputs))
    org, known = caller.org, inputs.pop("if_version", None)
    question, versions, now = _question(tool, org, inputs), _versions(tool, org), timezone.now()
    found = cache.get(org.organization_id, question, versions, now) if versions else None
    if known and found and known == found.version:
        return _unchanged(org, found.tail)
    theirs = ListVersion(known) if known else None
    if theirs and versions and theirs.is_good(question, versions, now):
        return _unchanged(org, _tail(theirs.extra, theirs.text))
    if found is None:
        found = _made(caller, tool, inputs, question, versions)
    if theirs and theirs.digest == found.digest:
        return _unchanged(org, found.tail)
    return b"".join((found.head, _time(org.synced_at), found.tail))


def _question(tool: Tool, org: OrgScope, inputs: Row) -> str:
    """All that an answer depends on beside the rows: the tool, as it answers now, the organization, every input."""
    asked = orjson.dumps(tool.complete(inputs), option=orjson.OPT_SORT_KEYS).decode()
    return "\0".join((tool.name, tool.shape, org.organization_id, asked))


def _versions(tool: Tool, org: OrgScope) -> tuple[int, ...] | None:
    """Those that the bearer check saw, of what the tool reads."""
    return tuple(getattr(org.versions, name) for name in tool.versions) if org.versions else None


def _made(caller: Caller, tool: Tool, inputs: Row, question: str, versions: tuple[int, ...] | None) -> Answer:
    """Reads it, and keeps it where what was read is of these versions: a replica may be behind, or a write between."""
    org = caller.org
    told = tool.call(caller, inputs)
    lasting = versions if _lasts(org) else None
    until = org.reading.until
    made = _of_list(told, question, lasting, until) if isinstance(tool, ListTool) else _of_one(told, lasting, until)
    if lasting:
        cache.keep(org.organization_id, question, made)
    return made


def _lasts(org: OrgScope) -> bool:
    until, reading = org.reading.until, org.reading
    if org.versions is None or (until is not None and until <= timezone.now()):
        return False
    return reading.is_of(org.versions, org.organization_id)


def _of_one(told: Row, versions: tuple[int, ...] | None, until: datetime | None) -> Answer:
    """Of a tool whose answer ends with syncedAt."""
    rest = {name: value for name, value in told.items() if name != "syncedAt"}
    return Answer(versions or (), until, encode(rest)[:-1] + SYNCED_AT, b"}")


def _of_list(told: Row, question: str, versions: tuple[int, ...] | None, until: datetime | None) -> Answer:
    items = told["items"]  # long, so they are copied as seldom as can be
    encoded = items.content if isinstance(items, Encoded) else encode(items)
    head = b"".join((b'{"items":', encoded, b',"nextCursor":', encode(told["nextCursor"]), SYNCED_AT))
    extra = encode({name: value for name, value in told.items() if name not in PAGE_FIELDS})[1:-1]
    digest = digest_of(question, head, extra)
    version = version_of(question, versions, until, digest, extra)
    return Answer(versions or (), until, head, _tail(extra, version), digest, version)


def _unchanged(org: OrgScope, tail: bytes) -> bytes:
    head = b'{"items":[],"nextCursor":null' + SYNCED_AT
    return head + _time(org.synced_at) + tail.removesuffix(b"false}") + b"true}"


@lru_cache(maxsize=1024)  # until the next sync it is the same
def _time(time: datetime | None) -> bytes:
    return encode(time)


def _tail(extra: bytes, version: str) -> bytes:
    beside = b"," + extra if extra else b""
    return b'%s,"version":"%s","isUnchanged":false}' % (beside, version.encode())
