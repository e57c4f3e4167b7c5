"""Errors that nobody clicked for: whether the browser may be redirected with one (RFC 9700 §4.11.2).

Anybody registers any https address. If each of them got a redirect, our host would be an open redirector to it.
"""

from django.contrib.auth.models import AnonymousUser

from apps.oauthmcp.models import DOCS_CLIENT, Authorization, Grant
from apps.oauthmcp.redirects import Kind, kind_of, target_of
from apps.orgs.models import User


def may_redirect(user: User | AnonymousUser, client_id: str, redirect_uri: str) -> bool:
    """To an app on the user's own device, to ourselves, or to a web target that this user has let in before."""
    if kind_of(redirect_uri) is not Kind.WEB or client_id == DOCS_CLIENT:
        return True
    return isinstance(user, User) and _has_let_in(user, client_id, redirect_uri)


def _has_let_in(user: User, client_id: str, redirect_uri: str) -> bool:
    """Not revoked since. An authorization does not tell which redirect URI it was for, where a client has several."""
    authorizations = Authorization.objects.filter(membership__user=user, application__client_id=client_id)
    authorization = authorizations.filter(revoked_at=None).select_related("application").first()
    if authorization is None:
        return False
    target = target_of(redirect_uri)
    if all(_is_at(uri, target) for uri in authorization.application.allowed_redirect_uris):
        return True
    codes = Grant.objects.filter(user=user, application__client_id=client_id, redeemed_at__isnull=False)
    return any(_is_at(uri, target) for uri in codes.values_list("redirect_uri", flat=True).distinct())


def _is_at(uri: str, target: str) -> bool:
    try:
        return target_of(uri) == target
    except ValueError:  # what was registered may not be allowed any more
        return False
