"""Which tokens for scripts end with somebody's password: said on the pages where it is changed."""

from typing import Any

from django import template

from apps.oauthmcp.script_tokens import listing
from apps.orgs.models import User

register = template.Library()


@register.inclusion_tag("account/script_tokens/ending.html")
def script_tokens_that_end(user: Any, whose: str = "your") -> dict[str, Any]:
    """`whose`: "your", or "their" on operators' pages."""
    working = listing.working(listing.of_user(user)) if isinstance(user, User) else []
    return {"tokens": [listing.ListedToken(token) for token in working], "is_own": whose == "your"}
