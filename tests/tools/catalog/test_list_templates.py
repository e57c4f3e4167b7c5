"""list_templates."""

from typing import Any

import pytest

from apps.orgs.models import Template
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import Fill, make, make_more
from tests.tools.catalog.contract import WIDEST, assert_fits, assert_limits, notation


@pytest.fixture(autouse=True)
def _none_yet(acme: Fill) -> None:
    acme.template.delete()


def template(name: str, fill: Fill | None = None, **fields: Any) -> Template:
    """Of an organization, or of the installation."""
    fields = {"name": name, "description": "It runs."} | fields
    return make(Template, fill.organization, **fields) if fill else Template.objects.create(**fields)


def names(api: Api, **inputs: Any) -> list[str]:
    return [item["name"] for item in api("list_templates", **inputs)["items"]]


def test_it_answers_what_the_contract_says() -> None:
    assert notation(TOOLS["list_templates"].item) == (
        "{id,name,description,version?,tags[],logoUrl?,links{github?,website?,docs?}}"
    )


def test_everything_that_is_known_of_a_template(api: Api, acme: Fill) -> None:
    it = template(
        "Ghost", acme, version="5.1", tags=",blog,cms,", logo_url="https://a.example.com/l.svg",
        github_url="https://b.example.com/", website_url="https://c.example.com/", docs_url="https://d.example.com/",
    )  # fmt: skip
    bare = template("Zero")
    assert api("list_templates")["items"] == [
        {
            "id": it.id,
            "name": "Ghost",
            "description": "It runs.",
            "version": "5.1",
            "tags": ["blog", "cms"],
            "logoUrl": "https://a.example.com/l.svg",
            "links": {
                "github": "https://b.example.com/",
                "website": "https://c.example.com/",
                "docs": "https://d.example.com/",
            },
        },
        {
            "id": bare.id,
            "name": "Zero",
            "description": "It runs.",
            "version": None,
            "tags": [],
            "logoUrl": None,
            "links": {"github": None, "website": None, "docs": None},
        },
    ]


def test_the_installations_and_the_organizations_own_are_listed_by_name(api: Api, acme: Fill, rival: Fill) -> None:
    template("beta")
    template("Alpha", acme)
    template("gamma")
    template("Rival's", rival)
    equal = [template("delta"), template("DELTA", acme)]
    found = api.walk("list_templates", limit=1)
    assert [item["name"].lower() for item in found] == ["alpha", "beta", "delta", "delta", "gamma"]
    assert [item["id"] for item in found[2:4]] == sorted(row.id for row in equal)


def test_another_organizations_templates_are_never_seen(api: Api, rival: Fill) -> None:
    template("theirs", rival, tags=",web,")
    assert names(api) == names(api, query="theirs") == names(api, tag="web") == []


def test_a_tag_is_one_whole_tag_in_any_case(api: Api, acme: Fill) -> None:
    template("a", tags=",cms,")
    template("b", acme, tags=",blog,cms,")
    template("c", tags=",cms-lite,headless-cms,")
    template("d", description="cms")
    template("e", tags=",,")
    assert names(api, tag="cms") == names(api, tag="CMS") == ["a", "b"]
    assert names(api, tag="cms-lite") == ["c"]
    for tag in ("cm", "c%", "cm_", "blog,cms", ",", ",cms,", " cms", "lite", "\\"):
        assert names(api, tag=tag) == [], tag


def test_a_query_looks_in_name_description_and_tags(api: Api) -> None:
    template("one Needle")
    template("two", description="in a NEEDLE")
    template("three", tags=",needle-work,")
    template("four", version="needle", docs_url="https://needle.example.com/")
    assert names(api, query="needle") == ["one Needle", "three", "two"]
    assert names(api, query="needle", tag="needle-work") == ["three"]
    assert names(api, query="two", tag="needle-work") == []


def test_a_query_is_literal(api: Api) -> None:
    for name in ("100%", "a_b", "axb", "Straße"):
        template(name)
    assert names(api, query="%") == ["100%"]
    assert names(api, query="_") == ["a_b"]
    assert names(api, query="STRASSE") == ["Straße"]


def test_inputs_have_bounds(api: Api) -> None:
    assert names(api, query="x" * 200, tag="x" * 32) == []
    assert api.refused("list_templates", query="x" * 201) == [("query", "max_length")]
    assert api.refused("list_templates", tag="x" * 33) == [("tag", "max_length")]
    assert api.refused("list_templates", tag="") == [("tag", "blank")]
    assert api.refused("list_templates", tag=["cms"]) == [("tag", "invalid")]


def test_the_limit_is_50_and_at_most_100(api: Api, acme: Fill) -> None:
    make_more(acme, 120)
    assert_limits(api, "list_templates", default=50, maximum=100)


@pytest.mark.parametrize("character", WIDEST)
def test_the_longest_rows_fit(api: Api, character: str) -> None:
    tags = "," + "".join(f"{number:02}".rjust(32, "t") + "," for number in range(20))
    for _ in range(15):
        template(
            character * 100, description=character * 1000, version=character * 50, tags=tags,
            logo_url=character * 500, github_url=character * 500, website_url=character * 500, docs_url=character * 500,
        )  # fmt: skip
    assert_fits(api, "list_templates", 15, 100)
