"""Which errors say that the database is not available: it is away, full, read-only or damaged. Of both databases."""

from django.db import Error, InterfaceError, OperationalError

# SQLite says OperationalError to bad SQL too, and DatabaseError to a damaged file.
SQLITE = (
    "SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_FULL", "SQLITE_READONLY",
    "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_NOMEM", "SQLITE_PROTOCOL", "SQLITE_NOLFS",
)  # fmt: skip
# What PostgreSQL files under internal errors: a read-only server, a transaction that took too long, damaged data.
POSTGRESQL = ("25006", "25P03", "25P04", "XX001", "XX002")


def is_unavailable(error: BaseException) -> bool:
    """Whether what was asked is right, and only the database cannot do it now. Anything else is a bug of ours."""
    if not isinstance(error, Error):
        return False
    cause = error.__cause__
    if name := getattr(cause, "sqlite_errorname", None):
        return str(name).startswith(SQLITE)
    return isinstance(error, OperationalError | InterfaceError) or getattr(cause, "sqlstate", None) in POSTGRESQL


def what_failed(error: BaseException) -> str:
    """For the log: the database's own name of it, never its words, which quote what was sent."""
    cause = error.__cause__
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
    return f"{type(error).__name__} {code}" if code else type(error).__name__
