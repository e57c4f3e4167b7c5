"""The two counters that tell whether an organization's rows have changed since an answer was given."""

from django.db.models import F

from apps.orgs.models import DataVersion


def raise_data_version(organization_id: str) -> None:
    """For a change of anything that tools read. Call it in the same transaction, last before it ends."""
    _raise(organization_id, "data_version")


def raise_checks_version(organization_id: str) -> None:
    """For times and latencies of checks alone; what a check changes besides raises `data_version`."""
    _raise(organization_id, "checks_version")


def _raise(organization_id: str, counter: str) -> None:
    versions = DataVersion.objects.filter(organization_id=organization_id)
    if not versions.update(**{counter: F(counter) + 1}):
        DataVersion.objects.bulk_create([DataVersion(organization_id=organization_id)], ignore_conflicts=True)
        versions.update(**{counter: F(counter) + 1})
