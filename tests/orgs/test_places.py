"""What belongs to an application is found by the project and the environment that the application is in."""

from typing import Any

import pytest
from django.db.models import F

from apps.orgs.models import App, Deployment, Domain, Environment, EnvVarName, Preview, Project
from tests.factories import Fill

pytestmark = pytest.mark.django_db


def places(app: App) -> set[tuple[Any, Any]]:
    models: tuple[Any, ...] = (Deployment, Domain, Preview, EnvVarName)
    found = [set(model.objects.filter(app=app).values_list("within_project", "within_environment")) for model in models]
    assert all(found)
    return set().union(*found)


@pytest.fixture
def elsewhere(acme: Fill) -> Environment:
    project = Project.objects.create(organization=acme.organization, name="Elsewhere")
    return Environment.objects.create(organization=acme.organization, project=project, name="production")


def test_rows_are_where_their_application_is(acme: Fill) -> None:
    assert places(acme.app) == {(acme.app.project_id, acme.app.environment_id)}


@pytest.mark.parametrize("way", ["save", "update", "bulk_update"])
def test_they_move_with_it(acme: Fill, elsewhere: Environment, way: str) -> None:
    app = App.objects.get(pk=acme.app.pk)
    app.project, app.environment = elsewhere.project, elsewhere
    match way:
        case "save":
            app.save()
        case "update":
            App.objects.filter(project=acme.app.project).update(project=elsewhere.project, environment=elsewhere)
        case "bulk_update":
            App.objects.bulk_update([app], ["environment", "project"])
    assert places(app) == {(elsewhere.project_id, elsewhere.pk)}


def test_rows_made_in_bulk_are_there_too(acme: Fill) -> None:
    rows = [Deployment(organization=acme.organization, app=acme.app, title=str(number)) for number in range(3)]
    Deployment.objects.bulk_create(rows)
    assert places(acme.app) == {(acme.app.project_id, acme.app.environment_id)}


def test_an_environment_that_is_deleted_is_nobodys_place(acme: Fill, elsewhere: Environment) -> None:
    app = App.objects.get(pk=acme.app.pk)
    app.environment = elsewhere
    app.save(update_fields=["environment"])
    elsewhere.delete()
    assert places(app) == {(app.project_id, None)}


def test_shared_names_are_within_what_they_are_set_on(acme: Fill, elsewhere: Environment) -> None:
    names = EnvVarName.objects
    of_environment = names.create(organization=acme.organization, environment=elsewhere, name="A", scope="environment")
    of_project = names.create(organization=acme.organization, project=elsewhere.project, name="B", scope="project")
    assert (of_environment.within_project_id, of_environment.within_environment_id) == (
        elsewhere.project_id,
        elsewhere.pk,
    )
    assert (of_project.within_project_id, of_project.within_environment_id) == (elsewhere.project_id, None)
    assert not names.filter(within_project=F("within_environment")).exists()
