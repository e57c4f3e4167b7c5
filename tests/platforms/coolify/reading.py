"""Reads a fake Coolify whole, and puts what both lanes told together."""

from apps.platforms.connector import Detail, State
from apps.platforms.coolify.connector import CoolifyConnector
from apps.platforms.snapshot import base


def read(connector: CoolifyConnector) -> tuple[State, dict[str, Detail]]:
    """The state, and every application's detail by its key."""
    state = connector.read_state()
    return state, {app.key: connector.read_detail(app) for app in state.apps}


def snapshot_of(state: State, details: dict[str, Detail]) -> base.Snapshot:
    told = details.values()
    deployments = {one.key: one for one in state.deployments or ()}
    deployments |= {one.key: one for detail in told for one in detail.deployments or ()}
    return base.Snapshot(
        version=state.identity.version,
        connections=state.connections,
        projects=state.projects,
        environments=state.environments,
        apps=tuple(detail.app for detail in told),
        previews=tuple(one for detail in told for one in detail.previews or ()),
        domains=tuple(one for detail in told for one in detail.domains or ()),
        deployments=tuple(deployments.values()),
        variables=tuple(one for detail in told for one in detail.variables or ()),
        secrets=state.secrets,
        runtimes=tuple(detail.runtime for detail in told if detail.runtime),
    )
