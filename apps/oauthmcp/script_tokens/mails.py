"""What people are told by mail: that a token for scripts was made in their name, and that one ends soon."""

import logging
from smtplib import SMTPException
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from apps.oauthmcp.models import Authorization, ScriptToken
from apps.oauthmcp.script_tokens.listing import ListedToken
from apps.oauthmcp.script_tokens.making import NOTICE

log = logging.getLogger("porthole.script_tokens")


def tell_of_new(request: HttpRequest, token: ScriptToken) -> None:
    """In the background: a mail server that is slow keeps nobody from seeing the token."""
    user = token.authorization.membership.user
    get_adapter(request).send_notification_mail("account/email/script_token_made", user, _values(token.authorization))


def remind() -> int:
    """Tells everybody whose token ends within a week, once, and says how many were told."""
    if not settings.MAIL_IS_SET_UP:
        return 0
    return sum(_remind(authorization) for authorization in _due())


def _due() -> QuerySet[Authorization]:
    ending = Authorization.objects.active().filter(expires_at__lte=timezone.now() + NOTICE)
    due = ending.filter(script_token__isnull=False, script_token__reminded_at=None)
    return due.select_related("script_token", "membership__organization", "membership__user").order_by("expires_at")


def _remind(authorization: Authorization) -> bool:
    """Noted first, so that nobody is told twice; taken back where the mail server does not take the mail."""
    token = ScriptToken.objects.filter(pk=authorization.pk)
    if not token.filter(reminded_at=None).update(reminded_at=timezone.now()):
        return False
    values = _values(authorization)
    mail = get_adapter().render_mail("account/email/script_token_ends", authorization.membership.user.email, values)
    try:
        mail.send()
    except (OSError, SMTPException) as error:
        log.error("a mail was not sent: %s", type(error).__name__)
        token.update(reminded_at=None)
        return False
    return True


def _values(authorization: Authorization) -> dict[str, Any]:
    return {
        "token": ListedToken(authorization),
        "address": settings.PUBLIC_URL,
        "page": settings.PUBLIC_URL + reverse("script_tokens"),
    }
