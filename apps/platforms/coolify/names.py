"""Names of variables: of applications and services, and of the lists that a team, project or environment shares.

Coolify tells them one by one. With a token that reads no secrets there is no value to tell apart.
"""

from dataclasses import dataclass

from apps.orgs.models import EnvVarName
from apps.platforms.coolify.calls import refuse_values
from apps.platforms.coolify.fields import Row, flag, moment
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import Name


@dataclass(frozen=True, slots=True)
class Names:
    variables: tuple[base.Variable, ...]
    skipped: int  # what was told as a name and is none


def variables_of(rows: list[Row], app: str) -> Names:
    """Raises UpstreamError where values come along."""
    refuse_values(rows)
    found: dict[tuple[str, str], base.Variable] = {}
    skipped = 0
    for row in rows:
        if (name := name_of(row)) is None:
            skipped += 1
        else:
            variable = base.Variable(name=name, scope=_scope(row), app=app, updated_at=moment(row, "updated_at"))
            found.setdefault((variable.scope, name), variable)
    return Names(tuple(found.values()), skipped)


def secrets_of(
    rows: list[Row], *, scope: str, project: str | None = None, environment: str | None = None
) -> list[base.Secret]:
    """Of one shared list. Raises UpstreamError where values come along."""
    refuse_values(rows)
    found: dict[str, base.Secret] = {}
    for row in rows:
        if name := name_of(row):
            secret = base.Secret(
                name=name, scope=scope, project=project, environment=environment, updated_at=moment(row, "updated_at")
            )
            found.setdefault(name, secret)
    return list(found.values())


def name_of(row: Row) -> str | None:
    name = row.get("key")
    return None if Name().problem(name) else name


def _scope(row: Row) -> str:
    if flag(row, "is_preview"):
        return EnvVarName.Scope.PREVIEW
    # Before beta.429 nothing says that a variable is for the build alone: `is_build_time` ones were there later too.
    return EnvVarName.Scope.BUILD if flag(row, "is_runtime") is False else EnvVarName.Scope.APP
