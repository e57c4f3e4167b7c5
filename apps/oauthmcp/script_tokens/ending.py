"""Ending tokens for scripts: one by its member or an owner, or all of an organization that forbids them."""

import logging
from typing import Any

from django.db import transaction

from apps.oauthmcp.models import AuthorizationQuerySet, ScriptToken
from apps.oauthmcp.script_tokens.listing import of_organization
from apps.orgs.models import Organization

log = logging.getLogger("porthole.script_tokens")


@transaction.atomic
def end(chosen: AuthorizationQuerySet, by: ScriptToken.EndedBy) -> int:
    """Ends those of them that have not ended, and says how many that were."""
    tokens = chosen.not_ended().filter(script_token__isnull=False)
    ids = list(tokens.select_for_update(of=("self",)).values_list("pk", flat=True))
    ScriptToken.objects.filter(pk__in=ids).update(ended_by=by)
    number = chosen.filter(pk__in=ids).revoke()
    for id in ids:
        log.info("a token for scripts was ended", extra={"fields": {"authorizationId": str(id), "by": by.label}})
    return number


@transaction.atomic
def allow(organization: Organization, is_allowed: bool) -> None:
    """Forbidding ends all tokens of the organization."""
    locked = Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)
    locked.allows_script_tokens = is_allowed
    locked.save(update_fields=["allows_script_tokens"])


def end_forbidden(sender: Any, instance: Organization, **_: Any) -> None:
    """An organization was saved, by whomever. Django's signal."""
    if not instance.allows_script_tokens:
        end(of_organization(instance), ScriptToken.EndedBy.ORGANIZATION)
