"""Sort and search keys: they follow from a row's own words, however the row is written."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import F, Value
from django.db.models.functions import Concat

from apps.oauthmcp.models import Application
from apps.orgs.models import (
    App,
    Deployment,
    Environment,
    EnvVarName,
    Organization,
    OrgSecretName,
    Project,
    SourceConnection,
    Template,
)
from apps.orgs.models.fields import FollowingField
from apps.orgs.text import fold
from tests.factories import Fill

NAMED = [SourceConnection, Project, Environment, App, EnvVarName, OrgSecretName, Template]
SEARCHED = [Project, App, Template]


def row_of(model: Any, fill: Fill) -> Any:
    return model.objects.get(organization=fill.organization)


def copy_of(row: Any, **changes: Any) -> Any:
    """The same row once more, not yet in the database and with no keys."""
    columns = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    keys = {field.attname for field in row._meta.concrete_fields if isinstance(field, FollowingField)}
    kept = {name: value for name, value in columns.items() if name not in {"id", "external_id", *keys}}
    return type(row)(**kept | changes)


def stored(row: Any) -> Any:
    return type(row).objects.get(pk=row.pk)


def has_keys(row: Any, name: str) -> bool:
    row = stored(row)
    assert row.name == name
    return row.sort_key == fold(name) and fold(name) in getattr(row, "search_key", row.sort_key)


def test_every_model_with_a_key_is_in_this_test() -> None:
    keyed = {model for model in apps.get_models() if any(isinstance(f, FollowingField) for f in model._meta.fields)}
    assert keyed == {*NAMED, Deployment, Organization, Application}
    assert set(NAMED) == {model for model in apps.get_models() if hasattr(model, "sort_key")}


@pytest.mark.parametrize("model", NAMED)
def test_saving_fills_the_keys(acme: Fill, model: Any) -> None:
    row = copy_of(row_of(model, acme), name="STRASSE")
    row.save()
    assert has_keys(row, "STRASSE")
    row.name = "Next"
    row.save()
    assert has_keys(row, "Next")


@pytest.mark.parametrize("model", NAMED)
def test_saving_only_a_name_takes_its_keys_along(acme: Fill, model: Any) -> None:
    row = row_of(model, acme)
    row.name = "Next"
    row.save(update_fields=["name"])
    assert has_keys(row, "Next")
    half = model.objects.only("name").get(pk=row.pk)
    half.name = "Last"
    half.save()
    assert has_keys(row, "Last")


@pytest.mark.parametrize("model", NAMED)
def test_creating_or_updating_by_the_manager_fills_the_keys(acme: Fill, model: Any) -> None:
    row = row_of(model, acme)
    model.objects.update_or_create(pk=row.pk, defaults={"name": "Next"})
    assert has_keys(row, "Next")


@pytest.mark.parametrize("model", NAMED)
def test_creating_in_bulk_fills_the_keys(acme: Fill, model: Any) -> None:
    rows = [copy_of(row_of(model, acme), name=name) for name in ("One", "TWO")]
    model.objects.bulk_create(rows)
    assert has_keys(rows[0], "One")
    assert has_keys(rows[1], "TWO")


@pytest.mark.parametrize("model", NAMED)
def test_what_a_bulk_creation_updates_on_a_conflict_takes_its_keys_along(acme: Fill, model: Any) -> None:
    row = row_of(model, acme)
    again = copy_of(row, id=row.pk, name="Next")
    model.objects.bulk_create([again], update_conflicts=True, unique_fields=["id"], update_fields=["name"])
    assert has_keys(row, "Next")


@pytest.mark.parametrize("model", NAMED)
def test_updating_in_bulk_takes_the_keys_along(acme: Fill, model: Any) -> None:
    row = row_of(model, acme)
    other = copy_of(row)
    other.save()
    row.name, other.name = "Next", "OTHER"
    model.objects.bulk_update([row, other], ["name"])
    assert has_keys(row, "Next")
    assert has_keys(other, "OTHER")


@pytest.mark.parametrize(("model", "column"), [(Deployment, "title"), (Organization, "name"), (Application, "name")])
def test_what_has_no_name_of_its_own_order_is_searched_in_too(acme: Fill, model: Any, column: str) -> None:
    rows = {Deployment: acme.deployment, Organization: acme.organization}
    row = rows.get(model) or Application.objects.create(client_id="x")
    setattr(row, column, "STRASSE")
    row.save(update_fields=[column])
    assert stored(row).search_key == "strasse"
    model.objects.filter(pk=row.pk).update(**{column: "Größe"})
    assert stored(row).search_key == "grösse"
    setattr(row, column, "Next")
    model.objects.bulk_update([row], [column])
    assert stored(row).search_key == "next"


def test_a_word_that_is_only_searched_goes_along_too(acme: Fill) -> None:
    acme.app.repository = "Acme/Searched"
    App.objects.bulk_update([acme.app], ["repository"])
    assert "acme/searched" in stored(acme.app).search_key
    acme.app.description = "ALSO this"
    acme.app.save(update_fields=["description"])
    assert "also this" in stored(acme.app).search_key
    assert "acme/searched" in stored(acme.app).search_key


@pytest.mark.parametrize("model", [model for model in NAMED if model not in SEARCHED])
def test_updating_rows_to_a_name_updates_the_sort_key(acme: Fill, model: Any) -> None:
    model.objects.filter(organization=acme.organization).update(name="Next")
    assert has_keys(row_of(model, acme), "Next")


def test_updating_rows_through_what_they_belong_to_is_no_way_around(acme: Fill) -> None:
    acme.project.environments.update(name="Next")
    assert has_keys(acme.environment, "Next")


@pytest.mark.parametrize("model", SEARCHED)
def test_updating_rows_needs_every_word_that_a_key_is_made_of(acme: Fill, model: Any) -> None:
    with pytest.raises(TypeError, match="search_key, which also follows from"):
        model.objects.update(name="Next")
    words = dict.fromkeys(model._meta.get_field("search_key").of, "Next")
    model.objects.filter(organization=acme.organization).update(**words)
    assert has_keys(row_of(model, acme), "Next")


def test_a_name_that_only_the_database_knows_is_refused(acme: Fill) -> None:
    with pytest.raises(TypeError, match="sort_key follows from name"):
        Environment.objects.update(name=Concat(F("name"), Value("!")))
    with pytest.raises(TypeError, match="sort_key follows from name"):
        Environment.objects.bulk_update([Environment(id=acme.environment.id, name=F("project_id"))], ["name"])
    assert has_keys(acme.environment, "production")


def test_a_key_cannot_be_set_to_anything_else(acme: Fill) -> None:
    acme.environment.sort_key = "x"
    acme.environment.save()
    assert has_keys(acme.environment, "production")
    with pytest.raises(TypeError, match="sort_key, which also follows from name"):
        Environment.objects.update(sort_key="x")


def test_other_columns_are_updated_as_ever(acme: Fill) -> None:
    App.objects.update(status="error")
    assert stored(acme.app).status == "error"


@pytest.mark.parametrize("model", NAMED)
def test_rows_that_were_stored_without_keys_get_them_by_the_migration(acme: Fill, model: Any) -> None:
    row = row_of(model, acme)
    keys = ["sort_key", "search_key"] if model in SEARCHED else ["sort_key"]
    before = [getattr(stored(row), key) for key in keys]
    model._base_manager.filter(pk=row.pk).update(**dict.fromkeys(keys, ""))
    migration = import_module("apps.orgs.migrations.0005_fill_sort_and_search_keys")
    state = MigrationLoader(connection).project_state(("orgs", "0005_fill_sort_and_search_keys"))
    migration.fill(state.apps, connection.schema_editor())
    assert [getattr(stored(row), key) for key in keys] == before
    assert all(before)


def test_clients_that_were_stored_without_keys_get_them_by_the_migration(db: None) -> None:
    Application._base_manager.update(name="STRASSE", search_key="")
    migration = import_module("apps.oauthmcp.migrations.0010_client_search_key")
    state = MigrationLoader(connection).project_state(("oauthmcp", "0010_client_search_key"))
    migration.fill(state.apps, connection.schema_editor())
    assert {client.search_key for client in Application.objects.all()} == {"strasse"}
