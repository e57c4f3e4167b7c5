"""Clients that registered and were never authorized: how many there may be, and which of them go.

Registration is open to everybody, so it is never refused because of them: each origin pushes out its own first.
"""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.net.encryption import mac
from apps.oauthmcp.models import Application
from apps.oauthmcp.pending import LIFETIME
from apps.web.limits import neighbourhood_of, network_of

# In a quarter of an hour, which a consent page waits, an address may register 210 in each process.
MAX_OF_ADDRESS = 500
MAX_OF_NETWORK = 2_000
MAX_UNUSED = 10_000  # beyond it the oldest go, when they are a day old
MAX_UNUSED_TOTAL = 100_000  # beyond it the oldest go, however young
MIN_AGE = timedelta(hours=24)
CHECK_EVERY_N = 50  # registrations in one process: looking at those that are there costs more than one more
MAX_ORIGINS = 10_000  # that a process remembers
EVERYBODY = ""
BATCH = 2 * CHECK_EVERY_N  # deleted at a time: more than registered since, so that it shrinks back to its bound
SURPLUS = CHECK_EVERY_N  # of one origin, deleted together: deleting costs more than registering
PENDING = timedelta(seconds=LIFETIME)
NOTED_EVERY = PENDING / 3  # so that opening a consent page again writes nothing


@dataclass(frozen=True)
class Origin:
    """Where a registration comes from: keyed hashes of the address (IPv6: /64) and of its network (/24, /48)."""

    address: str
    network: str


def origin_of(address: str) -> Origin:
    return Origin(_hash_of(network_of(address)), _hash_of(neighbourhood_of(address)))


def _hash_of(network: str) -> str:
    # Keyed: there are few enough addresses to try them all.
    return mac("where a client registered from", network)[:16].hex()


def keep_for_now(client: Application) -> None:
    """A user is looking at its consent page: for as long as that is valid, it does not go."""
    now = timezone.now()
    if client.authorized_at is None and (client.requested_at is None or client.requested_at < now - NOTED_EVERY):
        Application.objects.filter(pk=client.pk, authorized_at=None).update(requested_at=now)


class UnusedClientQuota:
    """Makes room before a registration: each process looks at an origin's first, and then once in CHECK_EVERY_N."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}  # registrations until the next look, of each origin and of all

    def take(self, origin: Origin) -> None:
        if self._is_due(origin.address):
            _delete_surplus(_unused().filter(registrant_address=origin.address), MAX_OF_ADDRESS)
        if self._is_due(origin.network):
            _delete_surplus(_unused().filter(registrant_network=origin.network), MAX_OF_NETWORK)
        if self._is_due(EVERYBODY):
            _shrink()

    def _is_due(self, origin: str) -> bool:
        if len(self._left) > MAX_ORIGINS:
            self._left.clear()  # all are due again
        left = self._left.get(origin, 0)
        self._left[origin] = (left or CHECK_EVERY_N) - 1
        return left == 0


quota = UnusedClientQuota()


def _delete_surplus(clients: QuerySet[Application], share: int) -> None:
    """Deletes the oldest of one origin, those beyond its share, once there are some of them."""
    newest_first = clients.order_by("-created").values_list("pk", flat=True)
    surplus = list(newest_first[share - 1 : share - 1 + BATCH])
    if len(surplus) >= SURPLUS:
        _delete(surplus)


def _shrink() -> None:
    unused = _unused()[: MAX_UNUSED_TOTAL + 1].count()
    if unused >= MAX_UNUSED:
        old = _unused().filter(created__lt=timezone.now() - MIN_AGE)
        unused -= _delete_oldest(old, min(unused - MAX_UNUSED + 1, BATCH))
    if unused >= MAX_UNUSED_TOTAL:
        _delete_oldest(_unused(), BATCH)


def _delete_oldest(clients: QuerySet[Application], number: int) -> int:
    return _delete(list(clients.order_by("created").values_list("pk", flat=True)[:number]))


def _delete(keys: list[int]) -> int:
    """Deletes those that are still unused, unless somebody is authorizing them now, and returns how many."""
    if not keys:
        return 0
    with transaction.atomic():
        locked = list(_unused().filter(pk__in=keys).select_for_update(skip_locked=True).values_list("pk", flat=True))
        Application.objects.filter(pk__in=locked).delete()
    return len(locked)


def _unused() -> QuerySet[Application]:
    # Never the ones that operators registered, nor our own, nor one whose consent page is open.
    is_not_pending = Q(requested_at=None) | Q(requested_at__lt=timezone.now() - PENDING - NOTED_EVERY)
    return Application.objects.filter(
        is_not_pending, authorized_at=None, registration_source=Application.RegistrationSource.DCR
    )
