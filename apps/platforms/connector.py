"""What every deployment system's connector does: it reads, in two lanes, and tells what it could not read.

*State*: what changes often and is told in few calls. *Detail*: one application read whole. platforms/sync.py decides
which details are due, and makes one snapshot of what was read and what is still known.
"""

from dataclasses import dataclass
from typing import Protocol

from apps.platforms.snapshot import base

STATE_PERIOD = 60  # seconds


class UpstreamError(Exception):
    """The platform cannot be read now. `sentence` is for operators, in plain words: nothing that was received is in it.

    `is_permanent`: it will not mend itself, such as a key that is refused.
    """

    def __init__(self, sentence: str, *, is_permanent: bool = False, retry_after: float | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.is_permanent, self.retry_after = sentence, is_permanent, retry_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a key is for. `can_write`: whether it could change something there; None where that cannot be known."""

    organization_key: str
    organization_name: str
    version: str
    role: str | None = None
    can_write: bool | None = None


# An environment's key, a project's key: one of them, or neither for what is the organization's.
Place = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state lane. A collection named in `unread` was refused: it is unknown, not empty, and its rows stay.

    `apps` are all that there are, in few columns. `domains` are those of all applications (not of previews), or None
    where only details tell them. `deployments` are as many as the lists tell, such as those under way, or None: details
    tell more, and are right where both tell of one. What `of_projects` and `of_places` leave out was not read now:
    those environments are as they were told before, those secrets are not here, and what is stored of them stays.
    """

    identity: Identity
    apps: tuple[base.AppState, ...]
    connections: tuple[base.Connection, ...] = ()
    projects: tuple[base.Project, ...] = ()
    environments: tuple[base.Environment, ...] = ()
    deployments: tuple[base.Deployment, ...] | None = None
    domains: tuple[base.Domain, ...] | None = None
    variables: tuple[base.Variable, ...] = ()  # of environments and projects
    secrets: tuple[base.Secret, ...] = ()
    templates: tuple[base.Template, ...] = ()
    unread: frozenset[str] = frozenset()
    of_projects: frozenset[str] | None = None  # whose environments were read. None: those of all
    of_places: frozenset[Place] | None = None  # whose secrets were read. None: those of all


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """One application, read whole. None, and what `unread` names, was not told: those rows stay."""

    app: base.App
    domains: tuple[base.Domain, ...] | None = None
    previews: tuple[base.Preview, ...] | None = None
    deployments: tuple[base.Deployment, ...] | None = None
    variables: tuple[base.Variable, ...] | None = None
    runtime: base.Runtime | None = None
    unread: frozenset[str] = frozenset()


class Connector(Protocol):
    """Reads one organization with one key. Every method raises UpstreamError.

    It asks upstream only for ids that it listed itself, and only with GET (Coolify's list of previews apart).
    `calls`: how many calls were made. `calls_per_minute`: what may be asked for, half of the platform's own limit.
    """

    calls_per_minute: int

    @property
    def calls(self) -> int: ...

    def identify(self) -> Identity: ...

    def read_state(self, *, is_first: bool = False) -> State:
        """`is_first`: nothing is stored yet, so that also what is read in turns is read whole."""
        ...

    def state_calls(self) -> int:
        """How many calls the last `read_state` took."""
        ...

    def read_detail(self, app: base.AppState) -> Detail:
        """Of an application that the last `read_state` listed. Called from up to four threads at once."""
        ...
