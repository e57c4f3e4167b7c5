"""Whatever is in the fields: what is read can be kept, and nothing but an UpstreamError is raised."""

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.platforms.connector import UpstreamError
from apps.platforms.coolify.addresses import compose_addresses_of, service_addresses_of
from apps.platforms.coolify.deployments import deployment_of
from apps.platforms.coolify.listing import listed_application, listed_service
from apps.platforms.coolify.names import secrets_of, variables_of
from apps.platforms.coolify.previews import preview_of
from apps.platforms.coolify.sources import connection_of
from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import NONE, check
from apps.platforms.sync.fit import fitted
from tests.examples import examples
from tests.fakes.coolify_rows import Rows
from tests.platforms.snapshots import problems_but_unseen

ROWS = Rows(7, 1)
SITE = "https://coolify.example.com"
PROJECT = base.Project(key="p", name="P")
ENVIRONMENT = base.Environment(key="e", project="p", name="production")

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.sampled_from(
        ["https://a:b@c.example.com/x y", "git@host:a/b", "https://[::1", "2026-08-01 10:00:00", "\ud800", "a" * 3000]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@st.composite
def odd(draw: st.DrawFn, row: dict[str, Any]) -> dict[str, Any]:
    """The row with some of its fields replaced or missing."""
    fields = draw(st.sets(st.sampled_from(sorted(row)), min_size=1, max_size=6))
    changed = {field: draw(VALUES) for field in fields}
    gone = draw(st.sets(st.sampled_from(sorted(row)), max_size=2))
    return {key: value for key, value in (row | changed).items() if key not in gone}


def check_read(snapshot: base.Snapshot) -> None:
    assert problems_but_unseen(snapshot) == []
    check(fitted(snapshot, NONE)[0])


@examples(60)
@given(row=st.sampled_from(ROWS.application_rows()).flatmap(odd))
def test_any_application(row):
    if listed := listed_application(row, ENVIRONMENT, {}, site=SITE, is_deploying=False):
        domains = tuple(address.domain(listed.app.key) for address in listed.addresses or ())
        check_read(base.Snapshot(projects=(PROJECT,), environments=(ENVIRONMENT,), apps=(listed.app,), domains=domains))


@examples(40)
@given(row=odd(ROWS.service(0)), part=VALUES)
def test_any_service(row, part):
    service_addresses_of(row | {"applications": [part]})
    if listed := listed_service(row, ENVIRONMENT, site=SITE):
        check_read(base.Snapshot(projects=(PROJECT,), environments=(ENVIRONMENT,), apps=(listed.app,)))


APP = listed_application(ROWS.application(0), ENVIRONMENT, {}, site=SITE, is_deploying=False)
assert APP
KNOWN = {"projects": (PROJECT,), "environments": (ENVIRONMENT,), "apps": (APP.app,)}
KEY = APP.app.key


@examples(60)
@given(row=odd(ROWS.all_deployments()[0] | {"commit_message": "x"}))
def test_any_deployment(row):
    if deployment := deployment_of(row, KEY, SITE, {}):
        check_read(base.Snapshot(**KNOWN, deployments=(deployment,)))


@examples(40)
@given(row=odd({"uuid": "u", "pull_request_id": 1, "pull_request_html_url": "", "fqdn": "", "status": ""}))
def test_any_preview(row):
    if preview := preview_of(row, KEY, is_deploying=False):
        check_read(base.Snapshot(**KNOWN, previews=(preview,)))


@examples(40)
@given(row=odd(ROWS.github_apps()[1]), type=st.sampled_from(["github", "gitlab"]))
def test_any_connection(row, type):
    if connection := connection_of(row, type):
        check_read(base.Snapshot(connections=(connection,)))


@examples(40)
@given(rows=st.lists(odd(ROWS.variable("NAME"))))
def test_any_names(rows):
    with suppress(UpstreamError):
        names, secrets = variables_of(rows, KEY), secrets_of(rows, scope="organization")
        check_read(base.Snapshot(**KNOWN, variables=names.variables, secrets=tuple(secrets)))
        assert len({row["key"] for row in rows if isinstance(row.get("key"), str)}) >= len(secrets)


@examples(40)
@given(told=VALUES)
def test_any_compose_addresses(told):
    compose_addresses_of(told)
