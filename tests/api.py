"""A client that checks every answer, errors included, against the published openapi.json."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.http import HttpResponseBase
from django.test import Client
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

PUBLISHED = Path(__file__).parent / "openapi.json"
PREFIX = "/api/v1/tools/"


@cache
def published() -> dict[str, Any]:
    return json.loads(PUBLISHED.read_text())


@cache
def _validator(*pointer: str) -> Draft202012Validator:
    resource = Resource.from_contents(published(), default_specification=DRAFT202012)
    fragment = "/".join(part.replace("~", "~0").replace("/", "~1") for part in pointer)
    return Draft202012Validator(
        {"$ref": f"urn:openapi#/{fragment}"},
        registry=Registry().with_resource("urn:openapi", resource),
        format_checker=FormatChecker(),
    )


def check_answer(tool: str, status: int, body: Any, headers: Any = None) -> None:
    """Fails unless openapi.json promises this answer of this tool (any tool's errors for an unknown name)."""
    path = PREFIX + tool if PREFIX + tool in published()["paths"] else PREFIX + "list_apps"
    check_response(path, "post", status, body, headers)


def check_response(path: str, method: str, status: int, body: Any, headers: Any = None) -> None:
    """Fails unless openapi.json promises this answer of this operation. `body` is JSON, or None for anything else."""
    responses = published()["paths"][path][method]["responses"]
    assert str(status) in responses, f"{path} answered {status}, which openapi.json does not know"
    response, pointer = responses[str(status)], ["paths", path, method, "responses", str(status)]
    if "$ref" in response:
        pointer = response["$ref"].removeprefix("#/").split("/")
        response = published()["components"]["responses"][pointer[-1]]
    is_json = "application/json" in response.get("content", {})
    assert is_json == (body is not None), f"{path} {status}: JSON is {'' if is_json else 'not '}promised"
    if is_json:
        validator = _validator(*pointer, "content", "application/json", "schema")
        errors = [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(body)]
        assert not errors, f"{path} {status}: {errors}"
    for name, header in response.get("headers", {}).items():
        assert headers is None or name in headers or not header.get("required"), (
            f"{path} {status} lacks the header {name}"
        )


class Api:
    """`api("list_apps", status="error")` answers the JSON of a 200; `api.post` gives the whole response."""

    def __init__(self, bearer: str | None, host: str = "localhost") -> None:
        self.client = Client(raise_request_exception=False, headers={"host": host})
        self.bearer = bearer

    def __call__(self, tool: str, **data: Any) -> dict[str, Any]:
        response = self.post(tool, data)
        assert response.status_code == 200, response.content
        return response.json()

    def refused(self, tool: str, **data: Any) -> list[tuple[str | None, str]]:
        """(field, type) of each problem of a 422."""
        response = self.post(tool, data)
        assert response.status_code == 422, response.content
        return [((*problem["loc"][1:], None)[0], problem["type"]) for problem in response.json()["detail"]]

    def walk(self, tool: str, **data: Any) -> list[dict[str, Any]]:
        """All items of a list, page by page."""
        items, cursor = [], None
        for _ in range(1000):
            page = self(tool, **data, **({"cursor": cursor} if cursor else {}))
            items += page["items"]
            cursor = page["nextCursor"]
            if cursor is None:
                return items
        raise AssertionError(f"{tool} does not end")

    def post(self, tool: str, data: Any = None, *, method: str = "POST", **headers: str) -> HttpResponseBase:
        """`data` is sent as JSON, or as it is where it is bytes. `headers` with underscores: content_type="…"."""
        body = data if isinstance(data, bytes) else json.dumps({} if data is None else data).encode()
        content_type = headers.pop("content_type", "application/json")
        if self.bearer is not None:
            headers.setdefault("authorization", f"Bearer {self.bearer}")
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        response = self.client.generic(method, PREFIX + tool, body, content_type=content_type, headers=sent)
        if response.status_code != 204:
            assert response["Content-Type"] == "application/json"
            check_answer(tool, response.status_code, json.loads(response.content), response.headers)
            assert response["X-Request-Id"]
            assert response["Cache-Control"] == "no-store"
            assert int(response["Content-Length"]) == len(response.content) <= 128 * 1024
        return response
