"""An organization's data version rises with every write of rows that tools read, and with nothing else."""

from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.utils import timezone

from apps.orgs.models import (
    App,
    CatalogueVersion,
    DataVersion,
    Deployment,
    Domain,
    EdgeFact,
    EdgeStatistics,
    Membership,
    Organization,
    Platform,
    Preview,
    Project,
    RuntimeFact,
    Template,
    User,
)
from apps.orgs.models.versioned import Versioned
from apps.orgs.versions import (
    Reading,
    SeenVersions,
    Versions,
    raise_checks_version,
    raise_data_version,
    raising_oneself,
    versions_now,
)
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply, apply_catalogue, plan
from apps.platforms.snapshot.check import SnapshotError
from tests.factories import Fill, fill, make, make_app
from tests.platforms.snapshots import app, manifest_platform, rich

pytestmark = pytest.mark.django_db
# Rows of organizations that no list of rows is made of.
UNVERSIONED = {"HealthTimetable", "DataVersion", "Invitation", "OrganizationCounts"}


def version(organization: Organization) -> int:
    return DataVersion.objects.filter(organization=organization).values_list("data_version", flat=True).first() or 0


@pytest.fixture
def acme() -> Fill:
    return fill("acme")


def save(row: Any, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save()


def rename(model: Any, row: Any, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    model.objects.bulk_update([row], list(values))


WRITES: dict[str, Callable[[Fill], object]] = {
    "a row is saved": lambda acme: save(acme.app, description="New."),
    "one column is saved": lambda acme: acme.deployment.save(update_fields=["title"]),
    "a row is created": lambda acme: make_app(acme.project, "new"),
    "rows are updated": lambda acme: Deployment.objects.filter(app=acme.app).update(status="failed"),
    "a row stops to be found by its own condition": lambda acme: Domain.objects.filter(app=acme.app, https=True).update(
        https=False
    ),
    "rows are updated in bulk": lambda acme: rename(Project, acme.project, name="Renamed"),
    "rows are created in bulk": lambda acme: Preview.objects.bulk_create(
        [Preview(organization=acme.organization, app=acme.app, branch="x")]
    ),
    "a row is deleted": lambda acme: acme.template.delete(),
    "rows are deleted": lambda acme: Domain.objects.filter(app=acme.app).delete(),
    "much is deleted with a row": lambda acme: acme.project.delete(),
    "its platform is deleted": lambda acme: acme.platform.delete(),
    "a platform's last sync fails": lambda acme: Platform.objects.filter(pk=acme.platform.pk).update(
        last_sync_status="error"
    ),
    "it is renamed itself": lambda acme: save(acme.organization, name="Acme & Sons"),
    "somebody joins": lambda acme: Membership.objects.create(
        organization=acme.organization, user=User.objects.create_user("new@example.com")
    ),
    "a check is written by hand": lambda acme: EdgeFact.objects.filter(domain=acme.domain).update(latency_ms=7),
    "statistics are saved": lambda acme: save(EdgeStatistics.objects.get(app=acme.app), uptime_24h=0.5),
    "what runs is deleted": lambda acme: RuntimeFact.objects.filter(app=acme.app).delete(),
    "it is said by hand": lambda acme: call_command("invalidate", "acme", stdout=StringIO()),
}


@pytest.mark.parametrize("what", WRITES)
def test_it_rises_when(what: str, acme: Fill) -> None:
    rival = fill("rival").organization
    before, theirs = version(acme.organization), version(rival)
    WRITES[what](acme)
    assert version(acme.organization) > before
    assert version(rival) == theirs


def test_it_rises_when_a_member_is_renamed_changes_their_role_or_goes(acme: Fill) -> None:
    user = User.objects.create_user("a@example.com")
    membership = Membership.objects.create(organization=acme.organization, user=user)
    for write in (
        lambda: save(user, name="Ann"),
        lambda: save(membership, role="owner"),
        user.delete,
    ):
        before = version(acme.organization)
        write()
        assert version(acme.organization) > before


NO_WRITES: dict[str, Callable[[Fill], object]] = {
    "nothing is found to be updated": lambda acme: App.objects.filter(name="none").update(hidden_at=timezone.now()),
    "a platform was read": lambda acme: acme.platform.save(update_fields=["last_sync_at", "sync_period"]),
    "it was read": lambda acme: Organization.objects.filter(pk=acme.organization.pk).update(synced_at=timezone.now()),
    "an application was read": lambda acme: App.objects.update(detail_read_at=timezone.now()),
    "somebody signs in": lambda acme: make_member(acme).save(update_fields=["last_login"]),
}


def make_member(acme: Fill) -> User:
    with raising_oneself():
        user = User.objects.create_user("b@example.com")
        Membership.objects.create(organization=acme.organization, user=user)
    return user


@pytest.mark.parametrize("what", NO_WRITES)
def test_it_stays_when(what: str, acme: Fill) -> None:
    before = version(acme.organization)
    NO_WRITES[what](acme)
    assert version(acme.organization) == before


def test_it_falls_back_with_what_was_written(acme: Fill) -> None:
    raise_data_version(acme.organization.pk)
    before = version(acme.organization)

    def fail() -> None:
        with transaction.atomic():
            save(acme.app, name="New")
            raise DatabaseError("the disk is full")

    with pytest.raises(DatabaseError):
        fail()
    assert version(acme.organization) == before


def test_the_installations_templates_have_a_version_of_their_own(acme: Fill) -> None:
    before = version(acme.organization)
    told = base.Snapshot(templates=rich().templates)
    ours = Template.objects.filter(organization=None)
    seen = [catalogue()]
    for write in (
        lambda: apply_catalogue(told),
        lambda: ours.update(version="9"),
        ours.filter(external_id="t").delete,
        lambda: apply_catalogue(told),
    ):
        write()
        seen.append(catalogue())
    assert seen == sorted(set(seen))
    apply_catalogue(told)
    assert catalogue() == seen[-1]
    assert version(acme.organization) == before


def catalogue() -> int:
    return CatalogueVersion.objects.values_list("version", flat=True).first() or 1


def test_a_number_never_comes_again_with_other_rows(acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a backup brings an earlier number back, or an organization's id comes again."""
    row = DataVersion.objects.filter(organization=acme.organization)
    raise_data_version(acme.organization.pk)
    backup = version(acme.organization)
    raise_data_version(acme.organization.pk)
    told = version(acme.organization)
    row.update(data_version=backup)
    raise_data_version(acme.organization.pk)
    assert version(acme.organization) > told
    row.delete()
    monkeypatch.setattr("apps.orgs.models.versioned.time_ns", lambda: 0)  # a clock that goes wrong
    raise_data_version(acme.organization.pk)
    raise_data_version(acme.organization.pk)
    assert version(acme.organization) == 3


def test_an_organization_is_deleted_with_its_version(acme: Fill) -> None:
    raise_data_version(acme.organization.pk)
    acme.organization.delete()
    fill("rival")
    Organization.objects.all().delete()
    assert not DataVersion.objects.exists()


def test_a_sync_raises_it_once_and_only_where_something_changed(counted_versions: None) -> None:
    platform = manifest_platform()
    organization = platform.organization
    before = version(organization)
    apply(platform, rich())
    assert version(organization) == before + 1
    apply(platform, rich())
    plan(platform, base.Snapshot())
    assert version(organization) == before + 1
    apply(platform, replace(rich(), version="2"))  # of the platform
    assert version(organization) == before + 2
    for _ in range(2):
        with pytest.raises(SnapshotError):
            apply(platform, base.Snapshot(apps=(app(),)))
        assert version(organization) == before + 3  # its last sync failed
    apply(platform, replace(rich(), version="2"))
    assert version(organization) == before + 4
    assert make(Project, organization, name="By hand").owner == organization.pk


def test_checks_have_a_version_of_their_own(acme: Fill) -> None:
    raise_checks_version(acme.organization.pk)
    one = DataVersion.objects.get(organization=acme.organization)
    raise_checks_version(acme.organization.pk)
    again = DataVersion.objects.get(organization=acme.organization)
    assert again.data_version == one.data_version
    assert again.checks_version > one.checks_version


def test_every_row_of_an_organization_that_is_listed_has_a_version() -> None:
    of_organizations = {
        model for model in apps.get_models() if any(field.attname == "organization_id" for field in model._meta.fields)
    }
    unversioned = {model.__name__ for model in of_organizations if not issubclass(model, Versioned)}
    assert unversioned == UNVERSIONED


def test_a_reading_is_of_the_versions_that_its_statements_saw(acme: Fill, django_assert_num_queries: Any) -> None:
    id = acme.organization.pk
    raise_data_version(id)
    now = versions_now(id)
    assert now is not None
    older = Versions(now.data - 1, now.checks, now.catalogue)
    with django_assert_num_queries(0):
        for told, is_of in (([now], True), ([older], False), ([older, now], False)):
            reading = Reading()
            for versions in told:
                reading.saw(versions)
            assert reading.is_of(now, id) is is_of
    with django_assert_num_queries(1):
        assert Reading().is_of(now, id)
    seen = Organization.objects.annotate(seen=SeenVersions(id)).values_list("seen", flat=True).get(pk=id)
    assert Versions.from_text(seen) == now
    raise_data_version(id)
    assert not Reading().is_of(now, id)
    acme.organization.delete()
    assert not Reading().is_of(now, id)
