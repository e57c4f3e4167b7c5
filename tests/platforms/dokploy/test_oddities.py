"""Whatever stands in a field: what cannot be kept is left out, and the reading goes on."""

import contextlib
import json

from hypothesis import given
from hypothesis import strategies as st

from apps.net.http import Response
from apps.platforms.connector import UpstreamError
from apps.platforms.dokploy import DokployConnector
from apps.platforms.snapshot.check import MAX_ENVIRONMENTS
from tests.examples import examples
from tests.fakes.dokploy import DokployFake, Request
from tests.fakes.dokploy_rows import task
from tests.platforms.dokploy.conftest import VERSIONS, connector_of
from tests.platforms.dokploy.test_state import snapshot_of
from tests.platforms.snapshots import problems_but_unseen

ODD = st.one_of(
    st.sampled_from([None, True, -1, 0, 10**30, 1.5, float("nan"), [], {}, [None], {"": 1}, "", " ", "\x00", "\ud800"]),
    st.sampled_from(["x" * 3000, "Ä" * 300, "https://user:secret@host/x", "2026-13-01T00:00:00Z", "../..", "-", "."]),
    st.text(max_size=20),
)
PROCEDURES = (
    "project.all", "application.one", "compose.one", "deployment.allCentralized", "overview.domains",
    "previewDeployment.all", "gitProvider.getAll", "compose.templates", "vaultProvider.all",
    "vaultProvider.listSecretNames", "docker.getServiceContainersByAppName", "organization.all", "user.get",
)  # fmt: skip
CHANGES = st.lists(st.tuples(st.sampled_from(PROCEDURES), st.integers(0, 10_000), ODD), min_size=1, max_size=6)


class OddClient:
    """The fake's answers without a socket in between, with odd values in them. `changes`: where, and which."""

    calls = 0

    def __init__(self, fake, changes):
        self.fake, self.changes = fake, changes

    def get(self, path, query=None):
        for value in (query or {}).values():
            assert value == value.strip()
            value.encode()  # no lone surrogate, which no address can hold
        status, body = self.fake.answer(Request("GET", path, dict(query or {})), self.fake.key)
        told = json.loads(body)
        places = list(places_in(told))
        for procedure, number, value in self.changes:
            if path == f"/api/{procedure}" and places:
                holder, place = places[number % len(places)]
                holder[place] = value
        return Response(status, {}, json.dumps(told).encode())


def places_in(value):
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, inner in entries:
        yield value, place
        yield from places_in(inner)


@examples(150)
@given(st.sampled_from(VERSIONS), CHANGES)
def test_odd_fields_fail_nothing_else(version, changes):
    fake = DokployFake(version, applications=3, composes=1)
    fake._server.server_close()
    fake.rows.add_preview(fake.rows.applications[0])
    fake.rows.tasks[fake.rows.applications[1]["appName"]] = [task("shutdown", "Rejected 1 minute ago", "No image")]
    connector = DokployConnector(fake.url, fake.key)
    connector._api._client = OddClient(fake, changes)
    details = []
    try:
        state = connector.read_state()
    except UpstreamError:
        return
    for app in state.apps:
        with contextlib.suppress(UpstreamError):
            details.append(connector.read_detail(app))
    sentences = {problem.sentence for problem in problems_but_unseen(snapshot_of(state, details))}
    assert sentences <= {"must be unique: an earlier entry is the same"}


def test_environments_beyond_what_a_project_may_have_are_left_out_but_not_their_applications(dokploy):
    fake = dokploy(applications=0)
    for number in range(MAX_ENVIRONMENTS):
        fake.rows.environments.append(fake.rows.environments[0] | {"environmentId": f"e{number}", "name": f"e{number}"})
    fake.rows.add_application(project=MAX_ENVIRONMENTS)
    state = connector_of(fake).read_state()
    assert len(state.environments) == MAX_ENVIRONMENTS
    assert [app.environment for app in state.apps] == [None]
