"""{% waiting_client address %}: on the way to a consent page, which app waits, and for what."""

from typing import Any
from urllib.parse import urlsplit

from django import template
from django.contrib.sessions.backends.base import SessionBase
from django.urls import reverse

from apps.oauthmcp.authorization_request import (
    AuthorizationRequest,
    DirectError,
    RedirectError,
    check,
    parameters_of,
)
from apps.oauthmcp.consent import SCOPE_DESCRIPTIONS
from apps.oauthmcp.models import DOCS_CLIENT
from apps.oauthmcp.redirects import kind_of, target_of

register = template.Library()


@register.inclusion_tag("oauth/waiting.html", takes_context=True)
def waiting_client(context: Any, address: str | None) -> dict[str, Any]:
    """`address`: where the sign-in leads. Anybody can write one, so nothing is shown but of a request that is valid."""
    waiting = _request_at(address or "", context["request"].session)
    if waiting is None:
        return {}
    titles = [SCOPE_DESCRIPTIONS[scope][0] for scope in waiting.scopes]
    return {
        "name": waiting.client.display_name,
        "is_ours": waiting.client.client_id == DOCS_CLIENT,
        "kind": kind_of(waiting.redirect_uri).name.lower(),
        "target": target_of(waiting.redirect_uri),
        "titles": [title[0].lower() + title[1:] for title in titles],
    }


def _request_at(address: str, session: SessionBase) -> AuthorizationRequest | None:
    try:
        parts = urlsplit(address)
        if (parts.scheme, parts.netloc, parts.path) != ("", "", reverse("oauth2_provider:authorize")):
            return None
        return check(parameters_of(parts.query, session))
    except (DirectError, RedirectError, ValueError):
        return None
