"""Where somebody goes who has set an installation up, as setup prints it."""

import os

from django.conf import settings

from apps.orgs.models import Membership, Organization, User

NEXT = """
Porthole is set up. What is next:

  Start          {start}
  Sign in        {address}/account/{second_factor}
  Operate        {address}/admin/
  Scripts, CI    {address}/account/tokens/ makes a token for them
  Agents (MCP)   {address}/mcp (docs/mcp.md tells how to connect one)
"""
BY_HAND = ".venv/bin/gunicorn -c config/gunicorn.conf.py config.wsgi, and beside it .venv/bin/python manage.py worker"


def next_steps() -> str:
    by_hand = "make run" if settings.IS_LOCAL else BY_HAND
    return "\n".join([
        NEXT.format(
            address=settings.PUBLIC_URL,
            start=os.environ.get("PORTHOLE_START") or by_hand,
            second_factor=" (the admin asks operators for a second factor)" * settings.OPERATORS_NEED_SECOND_FACTOR,
        ),
        *still_missing(),
    ])  # fmt: skip


def still_missing() -> list[str]:
    """A sentence for each part without which people will stand before a closed door."""
    cases = [
        (not User.objects.filter(is_staff=True).exists(), "There is no operator yet: setup --operator EMAIL"),
        (not Organization.objects.exists(), "There is no organization yet: setup --organization SLUG"),
        (not Membership.objects.exists(), "Nobody belongs to an organization yet, so nobody gets a token: add_member"),
        (
            settings.HTTPS_REQUIRED and not settings.TRUSTED_PROXIES,
            "TRUSTED_PROXIES is not set: behind a proxy for https, every call would be refused (docs/running.md).",
        ),
        (not settings.MAIL_IS_SET_UP, "EMAIL_URL is not set: nobody gets mail, such as invitations (docs/running.md)."),
    ]
    return [f"Note: {sentence}" for is_so, sentence in cases if is_so]
