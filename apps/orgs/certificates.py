"""What a certificate that was seen is at a moment, and when the clock makes it something else."""

from datetime import datetime, timedelta

from apps.orgs.overview import TICK
from apps.orgs.rows import Row

EXPIRING = timedelta(days=21)


def certificate_status(row: Row, now: datetime) -> str:
    """valid, expiring (under 21 days), expired, invalid or unknown, from a row with the edge__tls_* columns."""
    not_after: datetime | None = row["edge__tls_not_after"]
    if not_after is not None and not_after <= now:
        return "expired"
    if row["edge__tls_is_valid"] is False:
        return "invalid"
    if not_after is None:
        return "unknown"
    return "expiring" if not_after - now < EXPIRING else "valid"


def certificate_changes_at(row: Row, now: datetime) -> datetime | None:
    """The first moment after `now` from which time alone gives it another status; None: never."""
    not_after: datetime | None = row["edge__tls_not_after"]
    if not_after is None or not_after <= now:
        return None
    is_valid = row["edge__tls_is_valid"] is not False and not_after - now >= EXPIRING
    return not_after - EXPIRING + TICK if is_valid else not_after
