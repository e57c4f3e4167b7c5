"""What the fields of a record may hold, as its annotations say."""

import dataclasses
from functools import cache
from typing import Any, NamedTuple, get_args, get_type_hints

from apps.platforms.snapshot.bounds import Bound


class Field(NamedTuple):
    bound: Bound
    default: Any
    is_required: bool


@cache
def fields_of(record: type) -> dict[str, Field]:
    """The fields of a record type, in order, with their bounds."""
    hints = get_type_hints(record, include_extras=True)
    fields = {}
    for field in dataclasses.fields(record):
        missing = field.default is dataclasses.MISSING
        bound = next(part for part in get_args(hints[field.name]) if isinstance(part, Bound))
        fields[field.name] = Field(bound, None if missing else field.default, missing)
    return fields
