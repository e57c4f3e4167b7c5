"""Projects, environments and shared names of Coolify: what is remembered, what is read in turns, and what stays."""

from collections import Counter

import pytest

from apps.orgs.models import App, Environment, OrgSecretName, Project
from apps.platforms.coolify.connector import CoolifyConnector
from apps.platforms.coolify.state import CALLS_IN_TURN
from apps.platforms.models import PlatformConnection
from apps.platforms.sync.details import Limit
from apps.platforms.sync.run import sync_platform
from tests.fakes.coolify import CoolifyFake
from tests.platforms.snapshots import manifest_platform

PROJECTS = 20
LISTS = 9  # version, team, applications, services, projects, two kinds of connections, deployments, the team's names


@pytest.fixture
def many():
    """As many projects as applications, each with two environments."""
    with CoolifyFake(applications=PROJECTS, services=0, per_project=1) as fake:
        yield fake


def paths(fake: CoolifyFake) -> Counter[str]:
    told = Counter(request.path.removeprefix("/api/v1/") for request in fake.requests)
    fake.requests.clear()
    return told


def test_a_first_reading_reads_everything(many, connect):
    connector = connect(many)
    state = connector.read_state(is_first=True)
    assert connector.state_calls() == LISTS + 2 * PROJECTS + 2 * PROJECTS
    assert len(state.environments) == 2 * PROJECTS
    assert len(state.secrets) == len(state.of_places or ()) == 1 + PROJECTS + 2 * PROJECTS


def test_later_ones_read_some_projects_in_turn_and_all_of_them_in_the_end(many, connect):
    connector = connect(many)
    first = connector.read_state(is_first=True)
    places, projects, turns = set(), set(), 0
    while projects != first.of_projects:
        state = connector.read_state()
        assert connector.state_calls() <= LISTS + CALLS_IN_TURN + 3
        assert set(state.environments) == set(first.environments)
        assert state.apps == first.apps
        places, projects, turns = places | state.of_places, projects | state.of_projects, turns + 1
    assert places == first.of_places
    assert turns == -(-PROJECTS * 4 // CALLS_IN_TURN)
    assert many.strangers() == []


def test_a_worker_that_knows_nothing_asks_for_every_project_once_and_for_few_shared_names(many, connect):
    connect(many).read_state()
    told = paths(many)
    assert all(told[f"projects/{key}"] == 1 for key in many.rows.project_uuids())
    assert sum(path.endswith("/envs") for path in told) <= 1 + CALLS_IN_TURN + 3


def test_a_new_project_is_read_at_once(many, connect):
    connector = connect(many)
    connector.read_state(is_first=True)
    many.rows.applications += 1
    state = connector.read_state()
    assert (state.apps[-1].project, state.apps[-1].environment) == (f"project{PROJECTS}", f"environment{2 * PROJECTS}")
    assert f"project{PROJECTS}" in state.of_projects


def test_a_new_environment_is_looked_for_once(many, connect, monkeypatch):
    connector = connect(many)
    connector.read_state(is_first=True)
    rows, project = many.rows.application_rows(), many.rows.project

    def with_another(uuid):
        told = project(uuid)
        if uuid == "project7" and is_there:
            told["environments"].append({"id": 999, "uuid": "new-one", "name": "review", "project_id": 7})
        return told

    is_there = True
    monkeypatch.setattr(many.rows, "project", with_another)
    monkeypatch.setattr(many.rows, "application_rows", lambda: [rows[0] | {"environment_id": 999}, *rows[1:]])
    state = connector.read_state()
    assert (state.apps[0].environment, state.apps[0].project) == ("new-one", "project7")
    assert "apps" not in state.unread
    monkeypatch.setattr(many.rows, "application_rows", lambda: [rows[0] | {"environment_id": 555}, *rows[1:]])
    assert "apps" in connector.read_state().unread  # nobody knows where it is, so it is not taken for gone
    paths(many)
    assert "apps" in connector.read_state().unread
    assert sum(told for path, told in paths(many).items() if path.startswith("projects/")) <= CALLS_IN_TURN + 3


@pytest.mark.django_db
def test_only_what_was_really_read_is_deleted(connect, monkeypatch):
    monkeypatch.setattr("apps.platforms.coolify.state.CALLS_IN_TURN", 4)  # one project
    platform = manifest_platform(kind="coolify")
    PlatformConnection.objects.create(platform=platform, organization_key="0")
    with CoolifyFake(applications=4, services=0, per_project=1) as fake:
        monkeypatch.setattr("apps.platforms.sync.run._limit", lambda *_, is_first, **__: Limit(None if is_first else 1))
        workers = [connect(fake) for _ in range(2)]  # each with a memory of its own

        def sync(worker: CoolifyConnector) -> tuple[int, int]:
            sync_platform(platform.pk, connect=lambda _: worker)
            return Environment.objects.count(), OrgSecretName.objects.count()

        assert [sync(worker) for worker in workers * 2] == [(8, 1 + 4 + 8)] * 4
        project = fake.rows.project

        def without_staging(uuid):  # in which nothing is
            told = project(uuid)
            return told | {"environments": told["environments"][uuid == "project0" :]}

        monkeypatch.setattr(fake.rows, "project", without_staging)
        seen = [sync(worker) for worker in workers * 4]
        assert seen[-1] == (7, 1 + 4 + 7)
        assert seen == sorted(seen, reverse=True)  # once gone, what the other remembers does not bring it back

        fake.rows.applications -= 1
        sync(workers[0])
        assert (Project.objects.count(), App.objects.filter(hidden_at=None).count()) == (3, 3)
        assert sync(workers[0]) == (5, 1 + 3 + 5)
