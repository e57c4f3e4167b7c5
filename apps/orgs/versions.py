"""The two counters that tell whether an organization's rows have changed since an answer was given.

Writing rows that tools read raises `data_version` by itself (models/versioned.py), but inside `raising_oneself`, and
but for facts.
"""

from apps.orgs.models.versioned import raise_version, raising_oneself

__all__ = ["raise_checks_version", "raise_data_version", "raising_oneself"]


def raise_data_version(organization_id: str | None) -> None:
    """For a change of anything that tools read; None: of what every organization sees.

    Call it in the same transaction, last before it ends.
    """
    raise_version([organization_id])


def raise_checks_version(organization_id: str) -> None:
    """For times and latencies of checks alone; what a check changes besides raises `data_version`."""
    raise_version([organization_id], "checks_version")
