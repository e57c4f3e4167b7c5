"""What load balancers ask: is it alive, is it ready."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse

_is_migrated = False  # once true it stays true for this process: migrations are applied before a release starts


def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process answers."""
    return _plain("ok")


def readyz(request: HttpRequest) -> HttpResponse:
    """200 when the database answers and every migration is applied; 503 otherwise."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        ready = _all_migrations_applied()
    except DatabaseError:
        return _plain("the database does not answer", 503)
    return _plain("ok") if ready else _plain("migrations are not applied", 503)


def _all_migrations_applied() -> bool:
    global _is_migrated  # noqa: PLW0603  (see above)
    if not _is_migrated:
        executor = MigrationExecutor(connection)
        _is_migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
    return _is_migrated


def _plain(text: str, status: int = 200) -> HttpResponse:
    return HttpResponse(text + "\n", status=status, content_type="text/plain", headers={"Cache-Control": "no-store"})
