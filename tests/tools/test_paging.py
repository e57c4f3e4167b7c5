"""Pages: cursors that cannot be forged or carried elsewhere, and walks that see every row once."""

import base64
import json
import unicodedata
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from apps.orgs.callers import SCOPES, Caller
from apps.orgs.models import App, Deployment, Domain, EnvVarName, Template
from apps.orgs.scope import OrgScope
from apps.orgs.text import fold
from apps.tools import calls, paging
from apps.tools.paging import Page, binding_of, fit
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.examples import examples
from tests.factories import START, Fill, make, make_app

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@pytest.fixture
def many(api: Api, acme: Fill) -> Fill:
    """acme with five applications and five deployments more."""
    for number in range(5):
        make_app(acme.project, f"app {number}")
        make(Deployment, acme.organization, app=acme.app, title=f"{number}", created_at=START + timedelta(hours=number))
    return acme


def first_cursor(api: Api, tool: str = "list_apps", **data: Any) -> str:
    cursor = api(tool, limit=2, **data)["nextCursor"]
    assert isinstance(cursor, str)
    return cursor


def is_bad(api: Api, cursor: str, tool: str = "list_apps", **data: Any) -> bool:
    return api.refused(tool, cursor=cursor, **data) == [("cursor", "bad_cursor")]


# Cursors


def test_a_cursor_leads_to_the_next_page(api: Api, many: Fill) -> None:
    first = api("list_apps", limit=2)
    second = api("list_apps", limit=2, cursor=first["nextCursor"])
    assert [app["name"] for app in first["items"] + second["items"]] == ["acme app", "app 0", "app 1", "app 2"]


def test_a_cursor_outlives_the_key_that_signed_it_while_that_is_a_fallback(api: Api, many: Fill, settings: Any) -> None:
    cursor = first_cursor(api)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another-key" * 6
    assert is_bad(api, cursor)
    settings.SECRET_KEY_FALLBACKS = ["a third one", old]
    assert api("list_apps", cursor=cursor)["items"]
    assert is_bad(api, cursor[:-1] + ("A" if cursor[-1] != "A" else "B"))


def test_the_last_page_has_no_cursor(api: Api, many: Fill) -> None:
    assert api("list_apps", limit=6)["nextCursor"] is None
    assert api("list_apps", limit=5)["nextCursor"] is not None


def test_a_page_may_be_read_again(api: Api, many: Fill) -> None:
    cursor = first_cursor(api)
    assert api("list_apps", cursor=cursor) == api("list_apps", cursor=cursor)


def test_another_limit_is_allowed(api: Api, many: Fill) -> None:
    cursor = first_cursor(api)
    for limit in (1, 3, 100):
        assert api("list_apps", cursor=cursor, limit=limit)["items"][0]["name"] == "app 1"


def test_every_changed_character_is_noticed(api: Api, many: Fill) -> None:
    cursor = first_cursor(api)
    for index, character in enumerate(cursor):
        other = ALPHABET[(ALPHABET.index(character) + 1) % len(ALPHABET)]
        assert is_bad(api, cursor[:index] + other + cursor[index + 1 :]), index


def test_every_flipped_bit_of_a_byte_is_noticed(api: Api, many: Fill) -> None:
    raw = base64.urlsafe_b64decode(first_cursor(api) + "==")
    for index in range(len(raw)):
        changed = bytearray(raw)
        changed[index] ^= 1 << index % 8
        assert is_bad(api, base64.urlsafe_b64encode(changed).rstrip(b"=").decode()), index


def test_a_part_of_a_cursor_or_more_than_one_is_noticed(api: Api, many: Fill) -> None:
    cursor = first_cursor(api)
    for changed in (
        cursor[1:], cursor[:-1], cursor + "A", cursor + "=", cursor + "==", cursor + "\n", " " + cursor, cursor * 2,
        cursor[:22], cursor.swapcase(), cursor + "!", cursor[:5] + "." + cursor[5:],
    ):  # fmt: skip
        assert is_bad(api, changed), changed


@pytest.mark.parametrize(
    "garbage",
    [
        "x",
        "====",
        "AAAA",
        "A" * 8192,
        "null",
        "é",
        "😀",
        "../..",
        "eyJhIjoxfQ==",
        "-1",
        "%",
        " ",
        "[]",
        "A" * 21,
        "A" * 22,
    ],
)
def test_garbage_is_no_cursor(api: Api, garbage: str) -> None:
    assert is_bad(api, garbage)


@pytest.mark.parametrize(("value", "kind"), [("", "blank"), (7, "invalid"), (None, "null"), ("A" * 8193, "max_length")])
def test_what_is_no_text_of_that_length_is_no_cursor_either(api: Api, value: Any, kind: str) -> None:
    assert api.refused("list_apps", cursor=value) == [("cursor", kind)]


def test_a_cursor_belongs_to_its_tool(api: Api, many: Fill) -> None:
    for number in range(3):
        make(EnvVarName, many.organization, app=many.app, name=f"NAME_{number}", scope="app")
    cursor = first_cursor(api)
    assert is_bad(api, cursor, "list_projects")
    assert is_bad(api, cursor, "list_templates")
    names = first_cursor(api, "list_env_vars", applicationId=many.app.id)
    assert is_bad(api, names, "list_deployments", applicationId=many.app.id)


def test_a_cursor_belongs_to_its_organization(api: Api, many: Fill, rival: Fill, settings: Any) -> None:
    for number in range(5):
        make_app(rival.project, f"app {number}")
    cursor = first_cursor(api)
    settings.LOCAL_DEV_ORG = "rival"
    assert first_cursor(api)
    assert is_bad(api, cursor)


def test_a_cursor_belongs_to_its_application(api: Api, many: Fill) -> None:
    other = make_app(many.project, "other")
    make(Deployment, many.organization, app=other, title="x")
    cursor = first_cursor(api, "list_deployments", applicationId=many.app.id)
    assert is_bad(api, cursor, "list_deployments", applicationId=other.id)


def test_a_cursor_belongs_to_its_inputs(api: Api, many: Fill) -> None:
    cursor = first_cursor(api, query="app")
    assert api("list_apps", cursor=cursor, query="app")["items"]
    for changed in (
        {},
        {"query": "ap"},
        {"query": "app", "status": "unknown"},
        {"query": "app", "projectId": many.project.id},
    ):
        assert is_bad(api, cursor, **changed)


def test_a_default_and_the_same_value_written_out_are_the_same_input(api: Api, many: Fill) -> None:
    assert api("list_apps", cursor=first_cursor(api), query="")["items"]


def test_the_same_moment_in_another_zone_is_the_same_input(api: Api, many: Fill) -> None:
    app = many.app.id
    cursor = first_cursor(api, "list_deployments", applicationId=app, since="2026-03-01T12:00:00Z")
    assert api("list_deployments", applicationId=app, cursor=cursor, since="2026-03-01T13:00:00.000+01:00")["items"]
    assert is_bad(api, cursor, "list_deployments", applicationId=app, since="2026-03-01T12:00:01Z")


def test_a_cursor_of_another_installation_is_noticed(api: Api, many: Fill, settings: Any) -> None:
    cursor = first_cursor(api)
    settings.SECRET_KEY = "another"
    assert is_bad(api, cursor)


def test_a_cursor_tells_no_more_than_a_place(api: Api, many: Fill) -> None:
    payload = base64.urlsafe_b64decode(first_cursor(api) + "==")[paging.SIGNATURE_BYTES :]
    assert orjson.loads(payload) == ["app 0", App.objects.get(name="app 0").id]


def test_the_longest_names_have_a_cursor(api: Api, acme: Fill) -> None:
    """A sort key can be three times as long as the name, and each character four bytes."""
    for name in ("\u0390" * 200, "\U0001f511" * 200, '"\\' * 100, "\x01" * 200):
        for number in range(2):
            make_app(acme.project, name[:-1] + str(number), slug="x")
    names = [app["name"] for app in api.walk("list_apps", limit=1)]
    assert len(names) == len(set(names)) == 9


# Sizes


def test_a_page_closes_early_and_walking_sees_everything_once(api: Api, acme: Fill) -> None:
    for number in range(150):
        make_app(acme.project, f"{number:03}", description="\u20ac" * 1000, repository="r" * 500, source_type="git")
    cursor, pages = None, []
    while not pages or cursor:
        response = api.post("list_apps", {"cursor": cursor} if cursor else {})
        assert len(response.content) <= 64 * 1024
        page = response.json()  # type: ignore[attr-defined]
        pages.append(page["items"])
        cursor = page["nextCursor"]
    names = [app["name"] for page in pages for app in page]
    assert names == [f"{number:03}" for number in range(150)] + ["acme app"]
    assert all(10 < len(page) < 100 for page in pages[:-1])


def test_as_many_as_fit_are_kept_to_the_byte() -> None:
    items = [{"a": "x" * 92} for _ in range(10)]  # 100 bytes each, and a comma
    for limit, kept in ((2 + 10 * 101 - 1, 10), (2 + 10 * 101 - 2, 9), (2 + 5 * 101 - 1, 5), (1, 1)):
        some, encoded = fit(items, limit)
        assert len(some) == kept
        assert orjson.loads(encoded.content) == some
        assert kept == 1 or len(encoded.content) <= limit


def test_one_row_over_the_limit_is_still_answered() -> None:
    assert len(fit([{"a": "x" * 1000}, {"a": "y"}], 100)[0]) == 1


# Order


NAMES = [
    "zebra", "Zebra", "apple", "Apple", "APPLE", "\u00e9clair", "e\u0301clair", "\u00c9CLAIR", "eclair",
    "\u00e5ngstr\u00f6m",
    "\u212bngstr\u00f6m", "stra\u00dfe", "STRASSE", "strasse", "\u0130stanbul", "istanbul", "Istanbul",
    "\u0131stanbul", "\ufb01sh",
    "fish", "\U0001f511 key", "\uff21pp", "\u4e2d\u6587", "_x", "-x", " x", "x y", "x-y", "x_y", "x.y", "xy", "10",
    "9", "\ue000",
    "\U00010000", "\ufffd", "%", "\\", "'", "ǆ", "ǅ", "\u03c3", "\u03c2", "\u03a3",
]  # fmt: skip


def test_names_go_by_code_points_of_their_folded_form(api: Api, acme: Fill) -> None:
    App.objects.all().delete()
    made = [make_app(acme.project, name, slug="x") for name in NAMES]
    expected = sorted((fold(app.name), app.id) for app in made)
    assert [(fold(app["name"]), app["id"]) for app in api.walk("list_apps")] == expected
    assert [(fold(app["name"]), app["id"]) for app in api.walk("list_apps", limit=1)] == expected


@pytest.mark.django_db
def test_the_databases_language_does_not_matter() -> None:
    by_code_point = {"postgresql": "C", "sqlite": None}[connection.vendor]  # None: what SQLite does by itself
    for model, columns in ((App, {"sort_key", "id"}), (Domain, {"host", "path", "id"})):
        with connection.cursor() as cursor:
            described = connection.introspection.get_table_description(cursor, model._meta.db_table)
        collations = {column.name: column.collation for column in described if column.name in columns}
        assert collations == dict.fromkeys(columns, by_code_point)


def test_spellings_that_mean_the_same_are_neighbours() -> None:
    assert fold("e\u0301clair") == fold("\u00c9CLAIR") == fold("\u00e9clair")
    assert fold("stra\u00dfe") == fold("STRASSE")
    assert fold("\u212b") == fold("\u00e5")
    assert fold("\u03c2") == fold("\u03a3")


@examples()
@given(st.text(max_size=30))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


def test_the_newest_come_first_and_equals_by_id(api: Api, acme: Fill) -> None:
    for number in range(7):
        make(
            Deployment,
            acme.organization,
            app=acme.app,
            title="x",
            created_at=START + timedelta(microseconds=number // 3),
        )
    expected = sorted(Deployment.objects.values_list("created_at", "id").filter(app=acme.app), reverse=True)
    walked = api.walk("list_deployments", applicationId=acme.app.id, limit=2)
    assert [deployment["id"] for deployment in walked] == [id for _, id in expected]


# Search


NAMES = (
    "100%", "snake_case", "back\\slash", "Stra\u00dfe", "\u00e9clair", "\u0130stanbul", "star*", "[x]", "it's",
    "\U0001f511", "\u03c3\u03c2",
)  # fmt: skip
FOUND = {
    "%": {"100%"}, "_": {"snake_case"}, "\\": {"back\\slash"}, "\\_": set(), "%%": set(), "0%": {"100%"},
    "SNAKE": {"snake_case"}, "e_c": {"snake_case"}, "strasse": {"Stra\u00dfe"}, "STRASSE": {"Stra\u00dfe"},
    "\u00df": {"Stra\u00dfe"}, "ra\u00dfe": {"Stra\u00dfe"}, "\u1e9e": {"Stra\u00dfe"},
    "\u00c9": {"\u00e9clair"},
    "E\u0301CLAIR": {"\u00e9clair"}, "i\u0307s": {"\u0130stanbul"}, "\u0130STANBUL": {"\u0130stanbul"},
    "istanbul": set(), "stanbul": {"\u0130stanbul"}, "*": {"star*"}, "[": {"[x]"}, "[x]": {"[x]"}, "?": set(),
    "'": {"it's"}, '"': set(), " ": set(), "\U0001f511": {"\U0001f511"}, "\u03a3": {"\u03c3\u03c2"},
    "\u03c2\u03c2": {"\u03c3\u03c2"}, "\u1f80": set(), "100": {"100%"}, ".": set(), "a.b": set(), "\n": set(),
}  # fmt: skip


def test_a_query_is_a_literal_substring_in_any_case(api: Api, acme: Fill) -> None:
    App.objects.all().delete()
    for name in NAMES:
        make_app(acme.project, name, slug="x")
    assert {query: {app["name"] for app in api("list_apps", query=query)["items"]} for query in FOUND} == FOUND


def test_a_query_does_not_reach_from_one_field_into_the_next(api: Api, acme: Fill) -> None:
    make_app(acme.project, "one", slug="two")
    for query in ("onetwo", "one two", "one\ntwo", "e\nt", "\x1f", "e\x1ft"):
        assert api("list_apps", query=query)["items"] == []


def test_a_tag_is_a_whole_one(api: Api, acme: Fill) -> None:
    Template.objects.all().delete()
    for name, tags in (("a", ",web,db,"), ("b", ",webby,"), ("c", ",w_b,"), ("d", "")):
        make(Template, acme.organization, name=name, description="x", tags=tags)
    names = {
        tag: [t["name"] for t in api("list_templates", tag=tag)["items"]]
        for tag in ("web", "WEB", "w", "w_b", "%", ",")
    }
    assert names == {"web": ["a"], "WEB": ["a"], "w": [], "w_b": ["c"], "%": [], ",": []}
    assert api("list_templates", tag="web,db")["items"] == []


# Walking while rows come and go

Change = tuple[str, int, str]
CHANGES = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "rename"]), st.integers(0, 20), st.text("aAbBzZéß😀_", max_size=3)),
    max_size=4,
)
WALKS = examples(40)


def walk(page: Callable[[str | None], dict[str, Any]], change: Callable[[], None]) -> list[str]:
    """The ids of all pages, with a change between each two."""
    ids, cursor = [], None
    for _ in range(200):
        answer = orjson.loads(orjson.dumps(page(cursor), default=str))
        ids += [item["id"] for item in answer["items"]]
        cursor = answer["nextCursor"]
        if cursor is None:
            return ids
        change()
    raise AssertionError("the walk does not end")


def check_walk(seen: list[str], before: set[str], touched: set[str], left: set[str]) -> None:
    stayed = (before & left) - touched
    assert [id for id in seen if id in stayed] == sorted(stayed, key=seen.index)
    assert stayed <= set(seen), "a row that stayed was skipped"
    for id in set(seen) - touched:
        assert seen.count(id) == 1, "a row was seen twice"


@WALKS
@given(
    names=st.lists(st.text("aAbBzZéß😀_", max_size=4), max_size=12),
    limit=st.integers(1, 4),
    batches=st.lists(CHANGES, max_size=6),
)
def test_walking_by_name_sees_what_stays_exactly_once(
    acme: Fill, names: list[str], limit: int, batches: list[list[Change]]
) -> None:
    App.objects.all().delete()
    before = {make_app(acme.project, name, slug="x").id for name in names}
    renamed: set[str] = set()
    todo = iter(batches)

    def change() -> None:
        for what, number, name in next(todo, []):
            app = list(App.objects.order_by("id"))[number : number + 1]
            if what == "insert":
                make_app(acme.project, name, slug="x")
            elif app and what == "delete":
                app[0].delete()
            elif app:
                app[0].name = name
                app[0].save()
                renamed.add(app[0].id)

    caller = whoever_sees(acme)
    seen = walk(lambda cursor: page_of_apps(caller, limit, cursor), change)
    check_walk(seen, before, renamed, set(App.objects.values_list("id", flat=True)))


@WALKS
@given(hours=st.lists(st.integers(0, 5), max_size=12), limit=st.integers(1, 4), batches=st.lists(CHANGES, max_size=6))
def test_walking_the_newest_first_sees_what_stays_exactly_once(
    acme: Fill, hours: list[int], limit: int, batches: list[list[Change]]
) -> None:
    Deployment.objects.all().delete()
    before = {deploy(acme, hour) for hour in hours}
    todo = iter(batches)

    def change() -> None:
        for what, number, _ in next(todo, []):
            some = list(Deployment.objects.order_by("id"))[number : number + 1]
            if what == "insert":
                deploy(acme, number % 6)
            elif some and what == "delete":
                some[0].delete()
            elif some:
                some[0].status = "succeeded"
                some[0].save()

    caller = whoever_sees(acme)
    seen = walk(lambda cursor: page_of_deployments(caller, acme.app.id, limit, cursor), change)
    check_walk(seen, before, set(), set(Deployment.objects.values_list("id", flat=True)))


def deploy(acme: Fill, hour: int) -> str:
    created_at = START + timedelta(hours=hour)
    return str(make(Deployment, acme.organization, app=acme.app, title="x", created_at=created_at).id)


def whoever_sees(acme: Fill) -> Caller:
    return Caller(OrgScope(acme.organization.id, None), None, frozenset(SCOPES), None, "tests", None)


def page_of_apps(caller: Caller, limit: int, cursor: str | None) -> dict[str, Any]:
    data = {"limit": limit} | ({"cursor": cursor} if cursor else {})
    return json.loads(calls.answer(caller, TOOLS["list_apps"], data))


def page_of_deployments(caller: Caller, app_id: str, limit: int, cursor: str | None) -> dict[str, Any]:
    data = {"applicationId": app_id, "limit": limit} | ({"cursor": cursor} if cursor else {})
    return json.loads(calls.answer(caller, TOOLS["list_deployments"], data))


def test_a_signed_position_comes_back() -> None:
    page = Page(item=None, binding="x", limit=1, cursor=None, synced_at=None)  # type: ignore[arg-type]
    assert page.position() is None
    again = Page(item=None, binding="x", limit=1, cursor=page.sign(["a", "b"]), synced_at=None)  # type: ignore[arg-type]
    assert again.position() == ["a", "b"]


def test_a_cursor_outlives_inputs_that_are_added() -> None:
    """What is not given binds nothing; what the first release bound it binds still."""
    told = {"project_id": None, "environment_id": None, "status": None, "query": ""}
    before = binding_of("list_apps", "org_1", told)
    assert before == 'list_apps\0org_1\0{"environment_id":null,"project_id":null,"query":"","status":null}'
    assert binding_of("list_apps", "org_1", told | {"branch": None, "limit": 7, "cursor": "x"}) == before
    assert binding_of("list_apps", "org_1", told | {"branch": "main"}) != before
    assert binding_of("list_domains", "org_1", {"host": None}) == "list_domains\0org_1\0{}"
