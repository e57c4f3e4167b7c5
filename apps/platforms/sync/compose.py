"""One snapshot of what was read, and of what is still known of what was not."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from apps.platforms.connector import Detail, Place, State
from apps.platforms.snapshot import base
from apps.platforms.sync.stored import Kept, Stored

Record = TypeVar("Record")
# The prober's, whatever a platform says.
NEVER_TOLD = frozenset({("edges", None), ("edge_statistics", None)})
OF_ONE_APP = ("domains", "previews", "deployments", "variables", "runtimes")


def compose(state: State, details: Mapping[str, Detail], stored: Stored, kept: Kept) -> base.Snapshot:
    """Applications with details are in it whole, stored ones without in few columns, new ones without not at all.

    `kept` stays where `state` does not tell it.
    """
    listed = {app.key: app for app in state.apps}
    read = {key: detail for key, detail in details.items() if key in listed}
    known = {key: app for key, app in listed.items() if key not in read and key in stored.apps}
    held = {*read, *known}
    environments = _environments(state, kept.environments)
    return base.Snapshot(
        version=state.identity.version,
        connections=_once(state.connections, _key),
        projects=_once(state.projects, _key),
        environments=environments,
        apps=tuple(detail.app for detail in read.values()),
        app_states=tuple(known.values()),
        previews=_once(_told(read, "previews"), _key),
        domains=_once((*_told(read, "domains"), *(told for told in state.domains or () if told.app in held)), _key),
        deployments=_once(
            (*_told(read, "deployments"), *(told for told in state.deployments or () if told.app in held)), _key
        ),
        variables=_once(_variables(state, read, kept.variables), _place),
        secrets=_once(_secrets(state, kept.secrets, {environment.key for environment in environments}), _place),
        templates=_once(state.templates, _key),
        # Empty: as old as this sync. `sync.run` writes the time down once a sync does not read it again.
        runtimes=tuple(replace(detail.runtime, checked_at=None) for detail in read.values() if detail.runtime),
        unread=_unread(state, read, known, stored),
    )


def _environments(state: State, stored: list[base.Environment]) -> tuple[base.Environment, ...]:
    """Of projects that were not read now those that are stored, and those that applications are in."""
    if state.of_projects is None:
        return _once(state.environments, _key)
    projects, used = {project.key for project in state.projects}, {app.environment for app in state.apps}
    told = [one for one in state.environments if one.project in state.of_projects]
    waiting = projects - state.of_projects
    told += [one for one in stored if one.project in waiting]
    return _once((*told, *(one for one in state.environments if one.key in used)), _key)


def _secrets(state: State, stored: list[base.Secret], environments: set[str]) -> Iterator[base.Secret]:
    """And of places that were not read now, but are still there, those that are stored."""
    yield from state.secrets
    if state.of_places is None or "secrets" in state.unread:
        return
    places: set[Place] = {(None, project.key) for project in state.projects} | {(key, None) for key in environments}
    waiting = places - state.of_places
    yield from (secret for secret in stored if (secret.environment, secret.project) in waiting)


def _variables(state: State, read: Mapping[str, Detail], shared: list[base.Variable]) -> Iterator[base.Variable]:
    told = [*state.variables, *_told(read, "variables")]
    yield from told
    if "variables" in state.unread:
        places = {"environment": {env.key for env in state.environments}, "project": {p.key for p in state.projects}}
        new = {(variable.environment, variable.project) for variable in told if variable.app is None}
        for variable in shared:
            key = variable.environment or variable.project
            owner = "environment" if variable.environment else "project"
            if key in places[owner] and (variable.environment, variable.project) not in new:
                yield variable


def _unread(
    state: State, read: Mapping[str, Detail], known: Iterable[str], stored: Stored
) -> frozenset[tuple[str, str | None]]:
    # Variables of applications come from details, and those of environments and projects stay by `_variables`.
    unread: set[tuple[str, str | None]] = {(name, None) for name in state.unread - {"variables"}} | NEVER_TOLD
    for key in known:
        unread.update((name, key) for name in OF_ONE_APP if name != "domains")
        if state.domains is None or key in stored.with_previews:
            unread.add(("domains", key))
    for key, detail in read.items():
        unread.update((name, key) for name in OF_ONE_APP if name in detail.unread or _value(detail, name) is None)
        if detail.domains is None and state.domains is not None and not _loses_previews(key, detail, stored):
            unread.discard(("domains", key))
    return frozenset(unread)


def _loses_previews(key: str, detail: Detail, stored: Stored) -> bool:
    """Whether its previews are not known now, though some are stored, whose domains would go."""
    is_unknown = detail.previews is None or "previews" in detail.unread
    return "domains" in detail.unread or (is_unknown and key in stored.with_previews)


def _value(detail: Detail, name: str) -> Any:
    return detail.runtime if name == "runtimes" else getattr(detail, name)


def _told(read: Mapping[str, Detail], name: str) -> Iterator[Any]:
    for detail in read.values():
        yield from getattr(detail, name) or ()


def _once(records: Iterable[Record], identity: Callable[[Any], Hashable]) -> tuple[Record, ...]:
    """The first of each: what was told twice, as by the variables of an environment that two applications share."""
    found: dict[Hashable, Record] = {}
    for record in records:
        found.setdefault(identity(record), record)
    return tuple(found.values())


def _key(record: Any) -> Hashable:
    return record.key


def _place(record: Any) -> Hashable:
    return record.name, record.scope, getattr(record, "app", None), record.environment, record.project
