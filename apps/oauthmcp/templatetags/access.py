"""Whom somebody let in, for their page in the admin: that belongs to another application, which knows no clients."""

from typing import Any

from django import template

from apps.oauthmcp.admin.authorizations import state_of
from apps.oauthmcp.admin.revoking import SHOWN, name_of, scopes_of
from apps.oauthmcp.models import Authorization
from apps.orgs.models import User

register = template.Library()
MAX_SHOWN, MAX_ENDED = 100, 10


@register.inclusion_tag("admin/orgs/user/access.html", takes_context=True)
def access_of(context: dict[str, Any], user: User) -> dict[str, Any]:
    """Apps and tokens with access first, then those that had it last."""
    request = context["request"]
    may = {name: request.user.has_perm(f"oauthmcp.{name}_authorization") for name in ("view", "change")}
    if not (may["view"] or may["change"]):
        return {"may_view": False}
    rows = Authorization.objects.filter(membership__user=user).select_related(*SHOWN)
    active = list(rows.active().order_by("-created", "pk")[: MAX_SHOWN + 1])
    ended = list(rows.exclude(pk__in=rows.active().values("pk")).order_by("-expires_at", "pk")[:MAX_ENDED])
    return {
        "may_view": True,
        "may_revoke": may["change"],
        "user": user,
        "has_more": len(active) > MAX_SHOWN,
        "active": [_line(row) for row in active[:MAX_SHOWN]],
        "ended": [_line(row) for row in ended],
    }


def _line(row: Authorization) -> dict[str, Any]:
    return {"row": row, "name": name_of(row), "scopes": scopes_of(row), "state": state_of(row)}
