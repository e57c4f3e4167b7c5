"""Which database there is, and how long it is waited for: in commands as long as it takes, in requests not."""

from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

# In requests, in seconds. Together they stay under five: what a caller may wait for a 503.
CONNECT_TIMEOUT = 2  # libpq knows nothing less
ANSWER_TIMEOUT = 3.5
STATEMENT_TIMEOUT = 3.0  # the server gives up first, and the connection stays
BUSY_TIMEOUT = 4.0  # SQLite: for another writer
# TCP: a peer that is gone, with its machine or the way there. Also in commands, which wait for no such peer.
TCP = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 25_000}


def parse(url: str) -> dict[str, Any]:
    """Django's DATABASES["default"], as commands use it. Raises ImproperlyConfigured."""
    try:
        database: dict[str, Any] = dict(dj_database_url.parse(url))
    except ValueError:
        raise ImproperlyConfigured("DATABASE_URL must look like postgresql://user:password@host/name.") from None
    if database.get("NAME") in (None, "", ":memory:"):
        raise ImproperlyConfigured("DATABASE_URL must name a database that outlives a connection.")
    database |= {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    match database["ENGINE"]:
        case "django.db.backends.sqlite3":
            # WAL: readers go on while a sync writes. IMMEDIATE: a writer waits its turn at the start, never half way.
            database["OPTIONS"] = {
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
            }
        case "django.db.backends.postgresql":
            database["ENGINE"] = "apps.orgs.postgresql"
            database["OPTIONS"] = TCP | {"connect_timeout": 5} | database.get("OPTIONS", {})
        case _:
            raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL or SQLite database.")
    return database


def bound_requests() -> None:
    """From now on this process serves requests: whatever it asks a database ends in time. Before its first query."""
    database = connections.settings["default"]
    options = database["OPTIONS"]
    if database["ENGINE"] == "django.db.backends.sqlite3":
        options["timeout"] = BUSY_TIMEOUT
        return
    options["connect_timeout"] = min(CONNECT_TIMEOUT, int(options["connect_timeout"]))
    options["answer_timeout"] = ANSWER_TIMEOUT
    milliseconds = int(STATEMENT_TIMEOUT * 1000)
    ours = [f"-c {name}={milliseconds}" for name in ("statement_timeout", "lock_timeout")]
    ours.append(f"-c idle_in_transaction_session_timeout={10 * milliseconds}")
    options["options"] = " ".join([*ours, options.get("options", "")]).strip()  # of two, the later counts
