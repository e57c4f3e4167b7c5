"""The column types that Porthole's rows share."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import models

from apps.orgs import ids


class CodePointField(models.CharField):
    """Text that is compared by code point on both databases.

    PostgreSQL would otherwise follow the language of the database (`COLLATE "C"` is what SQLite does by itself).
    """

    def db_parameters(self, connection: Any) -> dict[str, Any]:
        parameters = dict(super().db_parameters(connection))
        if connection.vendor == "postgresql":
            parameters["collation"] = "C"
        return parameters


def id_field(prefix: str) -> "CodePointField":
    """A primary key as in `apps.orgs.ids`; syncs derive it, everything else gets a random one."""
    default: Callable[[], str] = partial(ids.random_id, prefix)
    return CodePointField(primary_key=True, max_length=ids.MAX_LENGTH, default=default, editable=False)
