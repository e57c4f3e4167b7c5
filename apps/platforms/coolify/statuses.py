"""What Coolify's words for the state of applications and deployments are called here."""

import re
from typing import Any

from apps.orgs.models import Deployment, Status
from apps.platforms.coolify.fields import Row, flag, number, text

# `running:healthy`, `running:unhealthy:excluded`, and of old releases `running (healthy)`: the first word is the state.
STATE = re.compile(r"\s*([a-z]+)")
STATUSES = {
    "running": Status.DEPLOYED,
    "starting": Status.DEPLOYING,
    "created": Status.DEPLOYING,
    "degraded": Status.ERROR,
    "restarting": Status.ERROR,
    "removing": Status.ERROR,
    "dead": Status.ERROR,
    "exited": Status.IDLE,
    "paused": Status.IDLE,
}
DEPLOYMENTS = {
    "queued": Deployment.Status.QUEUED,
    "in_progress": Deployment.Status.BUILDING,
    "finished": Deployment.Status.SUCCEEDED,
    "failed": Deployment.Status.FAILED,
    "cancelled-by-user": Deployment.Status.CANCELLED,
}
UNDER_WAY = (Deployment.Status.QUEUED, Deployment.Status.BUILDING)


def app_status(row: Row, *, is_deploying: bool) -> str:
    """Of an application, a service or a preview."""
    if is_deploying:
        return Status.DEPLOYING
    if flag(row, "server_status") is False:
        return Status.UNKNOWN  # its server does not answer: the last known state, or `exited` for want of a better
    found = STATE.match((text(row, "status") or "").lower())
    status = STATUSES.get(found[1], Status.UNKNOWN) if found else Status.UNKNOWN
    # A stopped application reads `exited:unhealthy` too: that alone is no error.
    return Status.ERROR if status == Status.IDLE and _gave_up(row) else status


def _gave_up(row: Row) -> bool:
    restarts, most = number(row, "restart_count"), number(row, "max_restart_count")
    if restarts is None or most is None or row.get("last_restart_type") != "crash":
        return False
    return restarts >= most > 0


def deployment_status(row: Row) -> str:
    return DEPLOYMENTS.get(text(row, "status") or "", Deployment.Status.UNKNOWN)


def trigger(row: Row) -> Any:
    if flag(row, "rollback"):
        return Deployment.Trigger.ROLLBACK
    if flag(row, "is_webhook"):
        return Deployment.Trigger.WEBHOOK
    return Deployment.Trigger.API if flag(row, "is_api") else Deployment.Trigger.MANUAL
