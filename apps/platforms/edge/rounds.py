"""A round: one check of every domain that is to be checked, and what was seen kept."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.conf import settings
from django.db.models import Q, QuerySet

from apps.orgs.models import Domain, EdgeFact, Organization, Platform
from apps.platforms.edge.lookups import Lookups
from apps.platforms.edge.probe import Prober
from apps.platforms.edge.records import Check, record
from apps.platforms.edge.targets import Outcome, Target

BATCH = 2000  # domains that are checked before what was seen is written
PORTS = {False: 80, True: 443}

_lookups = Lookups()  # as long as the process lives: a silent name server keeps a thread beyond its round

Probe = Callable[[list[Target]], list[Outcome]]


@dataclass(slots=True)
class Round:
    """How many domains were to be checked, how many could be, and how many of them answered."""

    domains: int = 0
    checked: int = 0
    reachable: int = 0


def probe_round(now: datetime, probe: Probe | None = None) -> Round:
    """Checks the enabled domains of all visible applications. `now` is when that begins."""
    probe = probe or _prober().probe
    result, began, domains = Round(), time.monotonic(), _domains()
    while batch := list(islice(domains, BATCH)):
        begins = now + timedelta(seconds=time.monotonic() - began)
        outcomes = probe([target for _, target in batch])
        organizations = {target.key: organization_id for organization_id, target in batch}
        result.domains += len(batch)
        result.checked += sum(outcome.reachable is not None for outcome in outcomes)
        result.reachable += sum(bool(outcome.reachable) for outcome in outcomes)
        _record_each(organizations, outcomes, begins)
    return result


def _prober() -> Prober:
    return Prober(settings.PROBE_NETWORKS, _lookups, connect_to=settings.PROBE_CONNECT_TO)


def _record_each(organizations: dict[str, str], outcomes: list[Outcome], begins: datetime) -> None:
    checks = defaultdict(list)
    for outcome in outcomes:
        checks[organizations[outcome.key]].append(Check(outcome, begins + timedelta(seconds=outcome.seconds)))
    for organization_id, its in checks.items():
        record(organization_id, its)


def _domains() -> Iterator[tuple[str, Target]]:
    """Each with its organization's id; those of an application together. In memory there is a page of rows."""
    told = told_platforms()
    for organization_id in list(Organization.objects.order_by("id").values_list("id", flat=True)):
        last = "", ""
        while page := list(_page(organization_id, told, last)):
            last = page[-1][0], page[-1][1]
            # Names that nobody could look up keep threads, so they come when the others have had theirs.
            for _, id, host, path, https, _ in sorted(page, key=lambda row: row[-1] == EdgeFact.DnsStatus.UNKNOWN):
                yield organization_id, Target(id, host, path, https, PORTS[https])


def _page(
    organization_id: str, told: list[int], after: tuple[str, str]
) -> QuerySet[Domain, tuple[str, str, str, str, bool, str]]:
    app_id, id = after
    return (
        Domain.objects.filter(organization_id=organization_id, is_enabled=True, app_id__gte=app_id)
        .filter(Q(app_id__gt=app_id) | Q(id__gt=id))
        .filter(app__hidden_at__isnull=True, edge__platform__isnull=True)
        .exclude(platform__in=told)
        .order_by("app_id", "id")
        .values_list("app_id", "id", "host", "path", "https", "edge__dns_status")[:BATCH]
    )


def told_platforms() -> list[int]:
    """Manifests that tell of checks. What such a manifest does not mention is unknown, as whoever wrote it meant."""
    manifests = Platform.objects.filter(kind=Platform.Kind.MANIFEST)
    return list(EdgeFact.objects.filter(platform__in=manifests).values_list("platform_id", flat=True).distinct())
