"""Projects and environments: applications name theirs by a number, which only the reading of its project tells."""

from dataclasses import dataclass, field

from apps.platforms.connector import UpstreamError
from apps.platforms.coolify.calls import Api, Refused
from apps.platforms.coolify.fields import Row, cut, identifier, moment, number, text
from apps.platforms.snapshot import base

# Coolify makes it with every project. It has no other mark of a default.
DEFAULT = "production"


@dataclass(slots=True)
class Places:
    """`numbers`: of each environment, the record."""

    projects: list[base.Project] = field(default_factory=list)
    environments: list[base.Environment] = field(default_factory=list)
    numbers: dict[int, base.Environment] = field(default_factory=dict)


def read_places(api: Api, used: set[int]) -> Places:
    """`used`: numbers of environments with applications, which come first in case there are more than can be kept."""
    places = Places()
    for row in api.rows("projects", "projects"):
        if (key := identifier(row)) is None or any(project.key == key for project in places.projects):
            api.left_out += 1
        else:
            _add(places, api, key, _project(api, key), used)
    return places


def _project(api: Api, key: str) -> Row:
    try:
        return api.row("environments of a project", f"projects/{key}")
    except Refused:
        pass
    # Not the same as a project that is gone: its applications would be hidden.
    raise UpstreamError("A project that Coolify lists could not be read. It may have been deleted at this moment.")


def _add(places: Places, api: Api, key: str, row: Row, used: set[int]) -> None:
    places.projects.append(
        base.Project(
            key=key,
            name=cut(base.Project, "name", text(row, "name")) or key,
            description=cut(base.Project, "description", text(row, "description")),
            created_at=moment(row, "created_at"),
        )
    )
    told = api.entries("environments of a project", row.get("environments", False))
    told.sort(key=lambda one: (text(one, "name") != DEFAULT, number(one, "id") not in used))
    for one in told:
        _add_environment(places, api, key, one)


def _add_environment(places: Places, api: Api, project: str, row: Row) -> None:
    key, number_of_it = identifier(row), number(row, "id")
    if key is None or number_of_it is None:
        api.left_out += 1
        return
    name = cut(base.Environment, "name", text(row, "name")) or key[:100]
    environment = base.Environment(key=key, project=project, name=name, is_default=name == DEFAULT)
    places.environments.append(environment)
    places.numbers[number_of_it] = environment
