"""What people of the field call the same, and what an operator may add."""

import pytest

from apps.sources.docs.synonyms import OWN, Synonyms, groups_in, synonyms


def test_a_group_is_a_line_with_commas_between_its_terms() -> None:
    text = "# Ours\n\nTLS, ssl ,x509-certificate\n  # more\nPR, pull  Request\n"

    assert groups_in(text) == (("tls", "ssl", "x509 certificate"), ("pr", "pull request"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# a comment\nalone", "line 2 must have 2 to 32 terms with commas between them"),
        (",".join(f"t{n}" for n in range(33)), "line 1 must have 2 to 32 terms with commas between them"),
        ("tls,", "each term in line 1 must have 1 to 3 words of at most 64 letters"),
        ('tls, \x00*"', "each term in line 1 must have 1 to 3 words of at most 64 letters"),
        ("tls, one two three four", "each term in line 1 must have 1 to 3 words of at most 64 letters"),
        (f"tls, {'x' * 65}", "each term in line 1 must have 1 to 3 words of at most 64 letters"),
        ("a, b\n" * 2001, "there are more than 2000 groups"),
    ],
)
def test_a_list_that_cannot_be_used_names_the_line_and_shows_nothing_of_it(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        groups_in(text)


def test_every_form_of_a_term_and_only_the_whole_term_has_synonyms() -> None:
    known = Synonyms(groups_in("remove, uninstall\nsecond factor, 2fa\nremove, take away"))

    assert known.of(("removing",)) == ("remove", "uninstall", "take away")
    assert known.of(("second", "factors")) == ("second factor", "2fa")
    assert known.of(("factor",)) == known.of(("second", "remove")) == ()


def test_a_misspelt_term_is_known_where_it_is_long_enough() -> None:
    known = Synonyms(groups_in("pagination, paging\nsaml, sso"))

    assert known.of_misspelt("pagniation") == ("pagination", "paging")
    assert known.of_misspelt("same") == known.of_misspelt("pagodation") == known.of_misspelt("x" * 65) == ()


def test_the_list_of_porthole_is_in_order_and_knows_what_it_promises() -> None:
    lines = [line for line in OWN.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]

    assert lines == sorted(set(lines))
    for one, other in (("ssl", "certificate"), ("env", "variable"), ("pr", "preview"), ("ram", "memory")):
        assert other in synonyms().of((one,))
        assert one in synonyms().of((other,))
    assert "remove" in synonyms().of(("uninstall",))


def test_what_an_operator_adds_comes_beside_it() -> None:
    ours = synonyms(groups_in("acme, billing"))

    assert ours.of(("acme",)) == ("billing",)
    assert ours.of(("ram",)) == synonyms().of(("ram",))
