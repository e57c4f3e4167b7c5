"""A deployment system in memory: applications that tests deploy, break and take away, and a connector that reads it."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.db import connection as database

from apps.net.encryption import encrypt_credential
from apps.platforms.connector import Detail, Identity, State, UpstreamError
from apps.platforms.models import PlatformConnection
from apps.platforms.snapshot import base
from tests.platforms.snapshots import NOON, manifest_platform

KEY = "canary-5f2c9e-key"
IDENTITY = Identity(organization_key="org-1", organization_name="Acme", version="0.30.2", role="member")


def key_of(number: int) -> str:
    return f"app-{number:05}"


@dataclass
class Memory:
    """`errors`: what reading the detail of an application raises. `state_error`: what reading the state raises."""

    apps: dict[str, base.AppState] = field(default_factory=dict)
    deployments: dict[str, base.Deployment] = field(default_factory=dict)
    previews: dict[str, base.Preview] = field(default_factory=dict)
    domains: dict[str, base.Domain] = field(default_factory=dict)
    variables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    errors: dict[str, UpstreamError] = field(default_factory=dict)
    state_error: UpstreamError | None = None
    identity: Identity = IDENTITY
    unread: frozenset[str] = frozenset()
    tells_domains: bool = True
    calls_per_minute: int = 1000
    calls_of_state: int = 6
    calls_of_detail: int = 4
    asked: list[str] = field(default_factory=list)
    on_detail: Callable[[str], None] = lambda key: None

    @classmethod
    def of(cls, count: int, deployments: int = 1) -> "Memory":
        memory = cls()
        for number in range(count):
            memory.add(key_of(number), deployments)
        return memory

    def add(self, key: str, deployments: int = 1) -> None:
        self.apps[key] = base.AppState(key=key, project="p", environment="e", name=key, status="deployed")
        self.domains[f"{key}-d"] = base.Domain(key=f"{key}-d", app=key, host=f"{key}.example.com", created_at=NOON)
        self.variables[key] = ("DATABASE_URL", "PORT")
        for number in range(deployments):
            self.deploy(key, f"{key}-{number}", "succeeded", created_at=NOON + timedelta(minutes=number))

    def deploy(self, app: str, key: str, status: str, **fields: Any) -> None:
        moment = fields.pop("created_at", NOON)
        done = None if status == "building" else moment + timedelta(seconds=30)
        self.deployments[key] = base.Deployment(
            key=key, app=app, status=status, title="Deploy", created_at=moment, finished_at=done, **fields
        )

    def change(self, key: str, **fields: Any) -> None:
        self.apps[key] = replace(self.apps[key], **fields)

    def remove(self, *keys: str) -> None:
        for key in keys:
            del self.apps[key]
            for records in (self.domains, self.deployments, self.previews):
                for name in [name for name, record in records.items() if record.app == key]:  # type: ignore[attr-defined]
                    del records[name]  # type: ignore[attr-defined]

    def preview(self, app: str, key: str) -> None:
        self.previews[key] = base.Preview(key=key, app=app, branch="x", created_at=NOON)
        host = f"{key}.example.com"
        self.domains[f"{key}-d"] = base.Domain(key=f"{key}-d", app=app, preview=key, host=host, created_at=NOON)

    @property
    def connector(self) -> "MemoryConnector":
        return MemoryConnector(self)


class MemoryConnector:
    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.calls_per_minute = memory.calls_per_minute
        self._calls = 0
        self._lock = threading.Lock()
        self._by_app: dict[str, dict[str, list[Any]]] = {}
        self.at_once = self.most_at_once = 0

    @property
    def calls(self) -> int:
        return self._calls

    def state_calls(self) -> int:
        return self.memory.calls_of_state

    def identify(self) -> Identity:
        if self.memory.state_error:
            raise self.memory.state_error
        return self.memory.identity

    def read_state(self, *, is_first: bool = False) -> State:
        self._calls += self.memory.calls_of_state
        if self.memory.state_error:
            raise self.memory.state_error
        memory, told = self.memory, [d for d in self.memory.domains.values() if d.preview is None]
        return State(
            identity=memory.identity,
            apps=tuple(memory.apps.values()),
            projects=(base.Project(key="p", name="Project", created_at=NOON),),
            environments=(base.Environment(key="e", project="p", name="production"),),
            deployments=tuple(d for d in memory.deployments.values() if d.preview is None),
            domains=tuple(told) if memory.tells_domains else None,
            unread=memory.unread,
        )

    def read_detail(self, app: base.AppState) -> Detail:
        with self._lock:
            self._calls += self.memory.calls_of_detail
            self.memory.asked.append(app.key)
        with self._counted():
            self.memory.on_detail(app.key)
        if app.key in self.memory.errors:
            raise self.memory.errors[app.key]
        return self.memory_detail(self.memory.apps[app.key])

    def memory_detail(self, app: base.AppState) -> Detail:
        memory = self.memory
        whole = base.App(
            key=app.key, project=app.project, environment=app.environment, name=app.name, kind=app.kind,
            status=app.status, upstream_status=app.upstream_status, source_type="upload", created_at=NOON,
        )  # fmt: skip
        domains, previews = self._of(app.key, "domains"), self._of(app.key, "previews")
        deployments = self._of(app.key, "deployments")
        return Detail(
            app=whole,
            domains=tuple(domain for domain in domains if domain.preview or not memory.tells_domains),
            previews=tuple(previews),
            deployments=tuple(deployment for deployment in deployments if deployment.preview),
            variables=tuple(base.Variable(name=name, app=app.key) for name in memory.variables.get(app.key, ())),
            runtime=base.Runtime(app=app.key, desired_replicas=1, running_replicas=1),
        )

    def _of(self, app: str, collection: str) -> list[Any]:
        """What belongs to an application; looked up once, or a test of thousands would wait for this."""
        with self._lock:
            if collection not in self._by_app:
                found = self._by_app[collection] = defaultdict(list)
                for record in getattr(self.memory, collection).values():
                    found[record.app].append(record)
        return self._by_app[collection].get(app, [])

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            yield
        finally:
            with self._lock:
                self.at_once -= 1


def connected(slug: str = "acme", kind: str = "dokploy", name: str = "default") -> PlatformConnection:
    platform = manifest_platform(slug, kind=kind, name=name)
    platform.sync_period = 60
    platform.save()
    return PlatformConnection.objects.create(
        platform=platform, base_url="https://deploy.example.com", encrypted_key=encrypt_credential(KEY),
        organization_key=IDENTITY.organization_key, organization_name=IDENTITY.organization_name,
    )  # fmt: skip


def rows_written(call: Callable[[], object]) -> Counter[str]:
    """How many, by table."""
    written: Counter[str] = Counter()

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        words = sql.split()
        if words[0] in ("INSERT", "UPDATE", "DELETE") and context["cursor"].rowcount:
            written[words[1 if words[0] == "UPDATE" else 2].strip('"')] += context["cursor"].rowcount
        return result

    with database.execute_wrapper(count):
        call()
    return written
