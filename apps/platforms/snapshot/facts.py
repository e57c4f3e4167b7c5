"""Records about health: what was seen from outside, and what runs. Part of the Snapshot, in base."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from apps.orgs import models
from apps.platforms.snapshot.bounds import Boolean, Choice, Integer, Items, Prose, Ratio, Ref, Time

MESSAGE = Prose(300, lines=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """The last outside check of one domain; at most one per domain. Latency in milliseconds."""

    domain: Annotated[str, Ref("domains")]
    checked_at: Annotated[datetime, Time()]
    reachable: Annotated[bool, Boolean()]
    http_status: Annotated[int | None, Integer(100, 599)] = None
    latency_ms: Annotated[int | None, Integer()] = None
    dns_status: Annotated[str, Choice(tuple(models.EdgeFact.DnsStatus.values))] = "unknown"
    tls_issuer: Annotated[str | None, Prose(200)] = None
    tls_not_after: Annotated[datetime | None, Time()] = None
    tls_is_valid: Annotated[bool | None, Boolean()] = None
    error: Annotated[str | None, MESSAGE] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One running (or failed) instance of an application."""

    state: Annotated[str, Prose(50)]
    since: Annotated[datetime | None, Time()] = None
    message: Annotated[str | None, MESSAGE] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeStatistics:
    """What outside checks of one application come to; at most one per application.

    One without a number (here) or an instance (below) says nothing, and becomes no row.
    `checked_at` of None, here and below: at the moment of the snapshot.
    """

    app: Annotated[str, Ref("apps")]
    checked_at: Annotated[datetime | None, Time()] = None
    uptime_24h: Annotated[float | None, Ratio()] = None
    latency_p50_ms: Annotated[int | None, Integer()] = None
    latency_p95_ms: Annotated[int | None, Integer()] = None

    @property
    def says_something(self) -> bool:
        return any(value is not None for value in (self.uptime_24h, self.latency_p50_ms, self.latency_p95_ms))


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What the source says is running of one application; at most one per application."""

    app: Annotated[str, Ref("apps")]
    checked_at: Annotated[datetime | None, Time()] = None
    desired_replicas: Annotated[int | None, Integer()] = None
    running_replicas: Annotated[int | None, Integer()] = None
    instances: Annotated[tuple[Instance, ...], Items(Instance, 20)] = ()

    @property
    def says_something(self) -> bool:
        numbers = (self.desired_replicas, self.running_replicas)
        return bool(self.instances) or any(number is not None for number in numbers)
