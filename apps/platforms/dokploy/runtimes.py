"""What Docker says is running of an application: the tasks of its service."""

from collections.abc import Iterable, Iterator

from apps.platforms.dokploy import fields
from apps.platforms.dokploy.fields import Row, cut
from apps.platforms.snapshot import base

MAX_INSTANCES = 20
MAX_FAILURES = 3  # older ones tell nothing new


def runtime_of(tasks: Iterable[Row], app: base.App, replicas: int | None) -> base.Runtime | None:
    """None where Docker tells of no task: that is also what Dokploy answers when it could not ask."""
    tasks = list(tasks)
    if not tasks:
        return None
    running = sum(_is_wanted(task) and _state(task) == "running" for task in tasks)
    is_stopped = app.status == "idle" and not any(map(_is_wanted, tasks))
    return base.Runtime(
        app=app.key,
        desired_replicas=0 if is_stopped else replicas,
        running_replicas=running,
        instances=tuple(_instances(tasks))[:MAX_INSTANCES],
    )


def _instances(tasks: list[Row]) -> Iterator[base.Instance]:
    """Those that should run, then the last failures; newest first, as Docker tells them."""
    yield from (_instance(task) for task in tasks if _is_wanted(task))
    failures = [task for task in tasks if not _is_wanted(task) and _state(task) in ("failed", "rejected")]
    yield from map(_instance, failures[:MAX_FAILURES])


def _instance(task: Row) -> base.Instance:
    error = (fields.text(task, "error") or "").removeprefix("Error:").strip().strip('"')
    return base.Instance(
        state=cut(base.Instance, "state", _state(task)) or "unknown", message=cut(base.Instance, "message", error)
    )


def _is_wanted(task: Row) -> bool:
    """By the state that Docker is to bring it to, which is also "ready" while it starts."""
    return fields.text(task, "state") in ("running", "ready")


def _state(task: Row) -> str:
    """Such as running, of "Running 3 minutes ago"."""
    words = (fields.text(task, "currentState") or "").split()
    return words[0].lower() if words else "unknown"
