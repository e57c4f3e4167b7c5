"""Machine-made calls over the whole schema: no 5xx, and no answer that openapi.json does not promise. For make soak."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from apps.tools.registry import TOOLS
from tests.api import PREFIX, published
from tests.examples import examples
from tests.factories import Fill
from tests.oauthmcp.contract import PREFIX as OAUTH_PREFIX
from tests.oauthmcp.grants import REDIRECT_URI, VERIFIER, make_client, make_code, make_member

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]
METADATA = {
    "redirect_uris": [REDIRECT_URI],
    "grant_types": ["authorization_code"],
    "response_types": ["code"],
    **dict.fromkeys(("client_uri", "logo_uri", "tos_uri", "policy_uri"), "https://client.example/"),
}
# RFC 6749 §3.2, RFC 7591 §2: what is unknown, empty or null is not refused there, but passed over.
OAUTH_CHECKS = [check for check in CHECKS if check is not negative_data_rejection]
BOUNDS = settings(examples(15), suppress_health_check=[*settings().suppress_health_check, HealthCheck.filter_too_much])
schema = schemathesis.openapi.from_dict(json.loads(json.dumps(published())))
# A body that breaks a rule by its length alone can be too long to be read at all.
schema.config.checks.negative_data_rejection.expected_statuses.append("413")
tools = schema.include(path_regex=f"^{PREFIX}")
# The one GET is a page for people.
oauth = schema.include(path_regex=f"^{OAUTH_PREFIX}", method="POST")


def from_this_machine(environ: dict[str, Any], start_response: Any) -> Any:
    """The local bearer works for loopback peers only, and a WSGI test client has no peer at all."""
    return wsgi(environ | {"REMOTE_ADDR": "127.0.0.1"}, start_response)


wsgi = get_wsgi_application()
schema.app = tools.app = oauth.app = from_this_machine


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """A request would end the test's transaction by closing its connection; Django's test client prevents it alike."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@tools.parametrize()
@BOUNDS
def test_every_answer_is_in_the_schema(case, acme: Fill, rival: Fill, settings):
    settings.LOCAL_DEV_ORG = "acme"
    if case.meta.generation.mode.is_positive and isinstance(case.body, dict) and len(str(case.body)) % 2:
        # Made-up ids name nothing; let half of the valid calls be about something that is there.
        case.body = {name: value for name, value in case.body.items() if name != "cursor" and not name.endswith("Id")}
        if "applicationId" in TOOLS[case.path.rpartition("/")[2]].input.fields:
            case.body["applicationId"] = acme.app.id
    headers = {"Host": "localhost", "Authorization": f"Bearer {settings.LOCAL_DEV_BEARER}"}
    response = case.call_and_validate(headers=headers, checks=CHECKS)
    sent = {name.lower() for name in response.request.headers}
    # It tries without a token too, and from pages of other origins, where this one is none.
    assert response.status_code != 401 or "authorization" not in sent or "origin" in sent


@oauth.parametrize()
@BOUNDS
def test_every_answer_of_the_oauth_endpoints_is_in_the_schema(case, acme: Fill):
    body = case.body
    if case.meta.generation.mode.is_positive and isinstance(body, dict) and len(str(body)) % 2:
        # Made-up clients and codes are refused early; let half of the valid calls come from a client that is there.
        client = make_client()
        known = {"client_id": client.client_id, "code_verifier": VERIFIER, "redirect_uri": REDIRECT_URI} | METADATA
        case.body = body | {name: value for name, value in known.items() if name in body}
        if "code" in body:
            member = acme.organization.memberships.first() or make_member(acme.organization)
            case.body["code"] = make_code(client, member)
    case.call_and_validate(headers={"Host": "localhost"}, checks=OAUTH_CHECKS)
