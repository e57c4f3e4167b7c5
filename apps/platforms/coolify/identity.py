"""Whose token it is: Coolify's version, and the one team that a token is for."""

from apps.platforms.connector import Identity, UpstreamError
from apps.platforms.coolify import versions
from apps.platforms.coolify.calls import Api, Refused, not_understood
from apps.platforms.coolify.fields import Row, cut, number, text
from apps.platforms.coolify.versions import Version
from apps.platforms.snapshot import base

NO_COOLIFY = "What answers there is not Coolify: it tells no version. Give the address where Coolify's pages are."
TOO_OLD = "This Coolify is older than 4.0.0-beta.402, which Porthole cannot read. Upgrade it."


def read_identity(api: Api) -> tuple[Identity, Version]:
    told = api.text("version", "version")
    version = Version.of(told)
    if version is None:
        raise UpstreamError(NO_COOLIFY)
    if version < versions.DEPLOYMENT_HISTORY:
        raise UpstreamError(TOO_OLD, is_permanent=True)
    team = _team(api)
    key = number(team, "id")
    if key is None:
        raise not_understood("team")
    name = cut(base.Project, "name", text(team, "name")) or f"Team {key}"
    # Its role and whether the token may write cannot be asked for without the right to write.
    return Identity(organization_key=str(key), organization_name=name, version=told[:50]), version


def _team(api: Api) -> Row:
    try:
        return api.row("team", "teams/current")
    except Refused:
        return api.row("team", "team")  # its newer name; Coolify calls the older one deprecated
