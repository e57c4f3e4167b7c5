"""How names are folded for order and search."""

import sys
import unicodedata

import pytest

from apps.orgs.models import App, Environment, Project, SourceConnection, Template
from apps.orgs.text import fold


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ẞ", "ss"),
        ("ÉCLAIR", "e\u0301clair"),
        ("ﬁle", "FILE"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("\u212a", "k"),  # the sign of Kelvin
        ("\u212b", "å"),  # the sign of Ångström
        ("ŉ", "ʼN"),
        ("ΐ", "\u03b9\u0308\u0301"),
        ("\u0345", "\u0399"),
        ("가", "\u1100\u1161"),
    ],
)
def test_spellings_that_mean_the_same_are_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a", "b"), ("a", "á"), ("ﷺ", "x"), ("²", "2"), ("Ⅳ", "iv"), ("a b", "ab"), (" a", "a"), ("ı", "i")],
)
def test_what_reads_differently_stays_different(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_ascii_and_digits_stay_as_they_are() -> None:
    assert fold("a_b-c.d/1 2%\\\n\t'\"") == "a_b-c.d/1 2%\\\n\t'\""


def test_what_is_folded_has_no_other_form() -> None:
    """Every character there is: folding again changes nothing, and it is NFC."""
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code < 0xE000:
            continue
        folded = fold(chr(code))
        if folded != chr(code):
            assert fold(folded) == folded == unicodedata.normalize("NFC", folded), hex(code)
            assert len(folded) <= 3, hex(code)


@pytest.mark.parametrize("model", [Project, App, Template, Environment, SourceConnection])
def test_a_sort_key_has_room_for_the_longest_name_folded(model: type) -> None:
    name, key = (model._meta.get_field(field).max_length for field in ("name", "sort_key"))
    assert key >= 3 * name
