"""The cache that holds what failed sign-ins count."""

from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.db import OperationalError, connections


class StrictDatabaseCache(DatabaseCache):
    """Raises where the database takes nothing, which Django's own keeps to itself: a limit that is not counted is none.

    So too whoever signs in waits for such a database once, and not at each count.
    """

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        for _ in range(3):  # whoever had the key may have dropped it since
            if super().add(key, value, timeout, version):
                return True
            if connections["default"].errors_occurred:
                break
            if self.has_key(key, version):
                return False
        raise OperationalError("the cache cannot be written")

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        validated = self.make_and_validate_key(key, version=version)
        write: Any = super()._base_set  # type: ignore[misc]  # Django's set keeps to itself what this says
        if write("set", validated, value, timeout):
            return
        # It may be that another has just made the row: then there is one to update. Whoever waited in vain waits once.
        if connections["default"].errors_occurred or not write("set", validated, value, timeout):
            raise OperationalError("the cache cannot be written")
