"""Ids: opaque, of one form, and the same everywhere where they are derived."""

import re

import pytest

from apps.orgs import ids, models
from apps.orgs.ids import derived_id, random_id

PREFIXES = {
    models.Organization: "org",
    models.Project: "prj",
    models.Environment: "env",
    models.App: "app",
    models.Domain: "dom",
    models.Preview: "prv",
    models.Deployment: "dep",
    models.SourceConnection: "con",
}


def test_the_alphabet_is_crockfords_in_lower_case() -> None:
    assert ids.ALPHABET == "0123456789abcdefghjkmnpqrstvwxyz"
    assert [character for character in ids.ALPHABET if not re.fullmatch(ids.PATTERN[:-4], character)] == []
    assert [character for character in "iloudABC_-é" if re.fullmatch(ids.PATTERN[:-4], character)] == ["d"]


@pytest.mark.parametrize(
    "id", [random_id("app"), derived_id("app", "x"), derived_id("app")], ids=["random", "of x", "of nothing"]
)
def test_an_id_is_its_prefix_and_26_characters(id: str) -> None:
    assert re.fullmatch(f"app_{ids.PATTERN}", id)
    assert len(id) == ids.MAX_LENGTH == 30


def test_random_ids_differ() -> None:
    assert len({random_id("app") for _ in range(1000)}) == 1000


def test_every_character_of_an_id_carries_five_bits() -> None:
    columns = zip(*(derived_id("app", str(number))[4:] for number in range(2000)), strict=True)
    assert all(set(column) == set(ids.ALPHABET) for column in columns)


def test_derived_ids_are_the_same_everywhere_and_for_ever() -> None:
    assert derived_id("app", "org_1", "manifest", "default", "shop") == "app_1neakdr5j44cfa9ask4n630pav"
    assert derived_id("dep", "é\n", "") == "dep_0qva9fq1scq1v15znfepg4bcqe"


def test_derived_ids_differ_with_every_part_and_with_where_parts_end() -> None:
    parts = [
        ("app", "a", "bc"),
        ("app", "ab", "c"),
        ("app", "abc"),
        ("app", "abc", ""),
        ("app", "", "abc"),
        ("prj", "a", "bc"),
    ]
    assert len({derived_id(*each)[4:] for each in parts}) == len(parts)


@pytest.mark.parametrize(("model", "prefix"), PREFIXES.items())
def test_a_rows_id_tells_what_it_names(model: type, prefix: str) -> None:
    assert re.fullmatch(f"{prefix}_{ids.PATTERN}", model().id)


def test_no_two_kinds_of_rows_share_a_prefix() -> None:
    kinds = [*PREFIXES, models.Template, models.EnvVarName, models.OrgSecretName]
    assert len({model().id[:4] for model in kinds}) == len(kinds)
