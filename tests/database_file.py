"""The tests' database where threads and other processes can use it at once, as when served."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.db import connection


@contextmanager
def database_in_a_file(folder: Path, blocker: Any) -> Iterator[None]:
    """In memory SQLite locks whole tables between connections and does not wait; in a file it does."""
    if connection.vendor != "sqlite":
        yield
        return
    with blocker.unblock():
        path = folder / "porthole.sqlite3"
        connection.ensure_connection()
        memory, name = connection.connection, connection.settings_dict["NAME"]
        with closing(sqlite3.connect(path)) as file:
            memory.backup(file)
        connection.connection, connection.settings_dict["NAME"] = None, str(path)
    try:
        yield
    finally:
        with blocker.unblock():
            connection.close()
            connection.connection, connection.settings_dict["NAME"] = memory, name
