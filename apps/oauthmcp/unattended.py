"""Errors that nobody clicked for: whether the browser may be redirected with one (RFC 9700 §4.11.2).

Anybody registers any https address. If each of them got a redirect, our host would be an open redirector to it.
"""

from django.contrib.auth.models import AnonymousUser

from apps.oauthmcp.client_history import has_authorized
from apps.oauthmcp.models import DOCS_CLIENT, Application
from apps.oauthmcp.redirects import Kind, kind_of
from apps.orgs.models import User


def may_redirect(user: User | AnonymousUser, client_id: str, redirect_uri: str) -> bool:
    """To an app on the user's own device, to ourselves, or to a web target that this user has let in before."""
    if kind_of(redirect_uri) is not Kind.WEB or client_id == DOCS_CLIENT:
        return True
    return isinstance(user, User) and _has_let_in(user, client_id, redirect_uri)


def _has_let_in(user: User, client_id: str, redirect_uri: str) -> bool:
    client = Application.objects.filter(client_id=client_id).first()
    return client is not None and has_authorized(user, client, redirect_uri)
