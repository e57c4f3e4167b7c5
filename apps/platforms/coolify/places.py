"""Projects and environments: applications name theirs by a number, which only the reading of its project tells.

With as many projects as applications, reading each of them every minute would take all calls there are. The numbers of
environments never change, so a reading remembers those that earlier ones told, and reads anew: projects that it does
not know, those where an unknown number may be found, and a few others in turn.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from apps.platforms.connector import UpstreamError
from apps.platforms.coolify.calls import Api, Refused
from apps.platforms.coolify.fields import Row, cut, identifier, moment, number, text
from apps.platforms.snapshot import base

# Coolify makes it with every project. It has no other mark of a default.
DEFAULT = "production"


@dataclass(slots=True)
class Project:
    """What reading a project told. `environments`: by number."""

    created_at: datetime | None
    environments: dict[int, base.Environment]


@dataclass(slots=True)
class Memory:
    """What readings leave for the next one. `nowhere`: numbers that no project has, which are not looked for again.

    `turns`: when each project was read in turn, counted; below 1 before that.
    """

    projects: dict[str, Project] = field(default_factory=dict)
    nowhere: set[int] = field(default_factory=set)
    turns: dict[str, float] = field(default_factory=dict)
    turn: float = 1.0

    def in_turn(self, keys: Iterable[str]) -> list[str]:
        """Longest ago first. Where nobody knows, at random: not all workers may begin with the same ones."""
        return sorted(keys, key=lambda key: self.turns.setdefault(key, random.random()))  # noqa: S311  (an order)

    def had_its_turn(self, key: str) -> None:
        self.turn += 1
        self.turns[key] = self.turn


@dataclass(slots=True)
class Places:
    """`numbers`: of each environment, the record. `read`: the projects whose environments were read now."""

    projects: list[base.Project] = field(default_factory=list)
    environments: list[base.Environment] = field(default_factory=list)
    numbers: dict[int, base.Environment] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)


class PlacesReader:
    """Reads once. `used`: numbers of environments with applications. Every method raises UpstreamError."""

    def __init__(self, api: Api, memory: Memory, used: set[int]) -> None:
        self._api, self._memory, self._used = api, memory, used
        self._read: set[str] = set()
        self._rows: dict[str, Row] = {}
        for row in api.rows("projects", "projects"):
            if (key := identifier(row)) is None or key in self._rows:
                api.left_out += 1
            else:
                self._rows[key] = row
        for gone in memory.projects.keys() - self._rows:
            del memory.projects[gone]
            memory.turns.pop(gone, None)

    def read_unknown(self) -> None:
        """What applications cannot be placed without."""
        for key in self._rows.keys() - self._memory.projects:
            self.read(key)
        for key in self.waiting():
            if not self._missing() - self._memory.nowhere:
                break
            self.read(key)
        self._memory.nowhere = self._missing()

    def waiting(self) -> list[str]:
        """The projects that were not read now, those first whose turn it is."""
        return self._memory.in_turn(key for key in self._rows if key not in self._read)

    def in_turn(self) -> list[str]:
        return self._memory.in_turn(self._rows)

    def read(self, key: str) -> list[base.Environment]:
        """A project's environments, those of this reading. `key` is one that this reading listed."""
        if key not in self._read:
            self._memory.projects[key] = self._project(key)
            self._read.add(key)
        return list(self._memory.projects[key].environments.values())

    def places(self) -> Places:
        places = Places(read=self._read)
        for key, row in self._rows.items():
            known = self._memory.projects[key]
            places.projects.append(
                base.Project(
                    key=key,
                    name=cut(base.Project, "name", text(row, "name")) or key,
                    description=cut(base.Project, "description", text(row, "description")),
                    created_at=known.created_at,
                )
            )
            places.environments += known.environments.values()
            places.numbers |= known.environments
        return places

    def _missing(self) -> set[int]:
        return self._used.difference(*(project.environments for project in self._memory.projects.values()))

    def _project(self, key: str) -> Project:
        row = self._row(key)
        told = self._api.entries("environments of a project", row.get("environments", False))
        # In case there are more than can be kept.
        told.sort(key=lambda one: (text(one, "name") != DEFAULT, number(one, "id") not in self._used))
        environments: dict[int, base.Environment] = {}
        for one in told:
            number_of_it, environment = number(one, "id"), _environment(key, one)
            if number_of_it is None or environment is None:
                self._api.left_out += 1
            else:
                environments[number_of_it] = environment
        return Project(moment(row, "created_at"), environments)

    def _row(self, key: str) -> Row:
        try:
            return self._api.row("environments of a project", f"projects/{key}")
        except Refused:
            pass
        # Not the same as a project that is gone: its applications would be hidden.
        raise UpstreamError("A project that Coolify lists could not be read. It may have been deleted at this moment.")


def _environment(project: str, row: Row) -> base.Environment | None:
    key = identifier(row)
    if key is None:
        return None
    name = cut(base.Environment, "name", text(row, "name")) or key[:100]
    return base.Environment(key=key, project=project, name=name, is_default=name == DEFAULT)
