"""One call of a tool: what is checked in which order, and that nobody's answer depends on who they are."""

from typing import Any
from uuid import uuid4

import pytest

from apps.orgs.callers import SCOPES, Caller, Viewer
from apps.orgs.scope import OrgScope
from apps.tools import calls
from apps.tools.registry import TOOLS
from apps.web.exceptions import InvalidInput
from tests.api import published
from tests.factories import START, Fill


def caller(acme: Fill, **who: Any) -> Caller:
    nobody = {
        "viewer": None,
        "scopes": frozenset(SCOPES),
        "user_id": None,
        "client_id": "tests",
        "authorization_id": None,
    }
    return Caller(OrgScope(acme.organization.id, START), **{**nobody, **who})


def test_the_input_is_not_even_read_for_who_lacks_the_scope(acme: Fill) -> None:
    def read() -> dict[str, Any]:
        raise AssertionError("the body was read")

    with pytest.raises(calls.InsufficientScope) as refused:
        calls.answer(caller(acme, scopes=frozenset({"docs:read"})), TOOLS["list_apps"], read)
    assert refused.value.scope == "apps:read"


def test_the_input_may_be_given_or_be_read(acme: Fill) -> None:
    tool = TOOLS["list_apps"]
    assert calls.answer(caller(acme), tool, {"limit": 1}) == calls.answer(caller(acme), tool, lambda: {"limit": 1})


def test_what_is_wrong_with_an_input_is_told_by_name_and_no_more_than_twenty_times(acme: Fill) -> None:
    with pytest.raises(InvalidInput) as refused:
        calls.answer(caller(acme), TOOLS["list_apps"], {f"key{number}": 1 for number in range(100)})
    assert [problem.field for problem in refused.value.problems] == [f"key{number}" for number in range(20)]


@pytest.mark.parametrize("name", [name for name, tool in TOOLS.items() if not tool.depends_on_caller])
def test_an_answer_does_not_depend_on_who_asks(acme: Fill, name: str) -> None:
    ids = {"applicationId": acme.app.id, "path": "README.md", "query": "token"}
    operation = published()["paths"][f"/api/v1/tools/{name}"]["post"]["requestBody"]
    reference = operation["content"]["application/json"]["schema"].get("$ref", "").rpartition("/")[2]
    required = published()["components"]["schemas"].get(reference, {}).get("required", [])
    data = {field: ids[field] for field in required}
    somebody = caller(
        acme,
        viewer=Viewer("ada@example.com", "Ada", "owner"),
        scopes=frozenset({TOOLS[name].scope}),
        user_id=7,
        client_id="client",
        authorization_id=uuid4(),
    )
    assert outcome(caller(acme), name, data) == outcome(somebody, name, data)


def outcome(asker: Caller, name: str, data: dict[str, Any]) -> Any:
    try:
        return calls.answer(asker, TOOLS[name], data)
    except InvalidInput as refused:
        return [problem.type for problem in refused.problems]


def test_calls_are_counted_by_authorization_and_those_of_a_fixed_bearer_by_its_name(acme: Fill) -> None:
    authorization = uuid4()
    assert caller(acme, authorization_id=authorization).key == str(authorization)
    assert caller(acme, client_id="local-dev").key == "local-dev"
