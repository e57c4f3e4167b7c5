"""What load balancers ask, by address and without a token."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import OperationalError
from django.test import Client

from apps.orgs.models import Organization
from apps.web import probes, tables


@pytest.fixture(autouse=True)
def a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "_was_ready", False)
    monkeypatch.setattr(tables, "_have_been_there", False)


@pytest.fixture
def database_down() -> Iterator[None]:
    with patch.object(connection, "cursor", side_effect=OperationalError("hunter2")):
        yield


@pytest.mark.parametrize("host", ["localhost", "10.1.2.3:8000", "evil.example", "a b"])
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.django_db
def test_probes_answer_at_any_host(client: Client, path: str, host: str) -> None:
    response = client.get(path, headers={"host": host})
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert response["Cache-Control"] == "no-store"
    assert response["X-Request-Id"]


def test_it_is_alive_without_a_database(client: Client) -> None:
    assert client.get("/healthz").status_code == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("database_down")
def test_it_is_not_ready_without_a_database(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    assert b"hunter2" not in response.content


@pytest.mark.django_db
def test_it_is_not_ready_before_every_migration_is_applied(client: Client) -> None:
    last = MigrationLoader(connection).graph.leaf_nodes("orgs")[0]
    MigrationRecorder(connection).record_unapplied(*last)
    assert client.get("/readyz").status_code == 503
    MigrationRecorder(connection).record_applied(*last)
    assert client.get("/readyz").status_code == 200


@pytest.mark.django_db
def test_it_is_not_ready_while_a_rule_about_rows_is_broken(client: Client, settings: Any) -> None:
    settings.LOCAL_DEV_ORG, settings.LOCAL_DEV_ORG_IS_SET = "nobody", True
    response = client.get("/readyz")
    assert (response.status_code, response.content) == (503, b"a setting is refused; the log says which\n")
    Organization.objects.create(slug="nobody", name="Somebody")
    assert client.get("/readyz").status_code == 200


@pytest.mark.django_db
def test_being_ready_costs_one_query_once_it_was(client: Client, django_assert_num_queries: object) -> None:
    client.get("/readyz")
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.django_db
def test_a_probe_may_be_a_head(client: Client, path: str) -> None:
    assert client.head(path).status_code == 200
