"""Liveness and readiness probes."""

import logging
from collections.abc import Callable

from django.core.checks import Tags, run_checks
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, HttpResponse

from apps.web.tables import what_is_missing

log = logging.getLogger("porthole.ready")

_was_ready = False  # stays true for this process: migrations and rules about rows come before a release starts
_notes: dict[str, Callable[[], str | None]] = {}


def add_note(name: str, note: Callable[[], str | None]) -> None:
    """`note` tells what is degraded at the moment, in words for anybody to read, or None. It waits for nothing."""
    _notes[name] = note


def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process answers."""
    return _plain("ok")


def readyz(request: HttpRequest) -> HttpResponse:
    """200 when the database answers, every migration is applied and no setting is refused; 503 otherwise.

    A part that is degraded does not make it 503: it is named after "ok".
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        problem = _problem()
    except DatabaseError:
        return _plain("the database does not answer", 503)
    return _plain(problem, 503) if problem else _plain("; ".join(["ok", *_degraded()]))


def _degraded() -> list[str]:
    return [f"{name}: {said}" for name, note in _notes.items() if (said := note())]


def _problem() -> str:
    global _was_ready  # noqa: PLW0603  (see above)
    if _was_ready:
        return ""
    if what_is_missing():
        return "migrations are not applied"
    # At start-up the database may not have answered yet, and then these rules could not be checked.
    if broken := [found for found in run_checks(tags=[Tags.database], databases=["default"]) if found.is_serious()]:
        log.error("not ready: %s", broken[0].msg)
        return "a setting is refused; the log says which"
    _was_ready = True
    return ""


def _plain(text: str, status: int = 200) -> HttpResponse:
    return HttpResponse(text + "\n", status=status, content_type="text/plain", headers={"Cache-Control": "no-store"})
