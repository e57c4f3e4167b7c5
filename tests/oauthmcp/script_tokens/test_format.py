"""A token for scripts can be told from what only looks like one, before anybody asks the database."""

import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from apps.oauthmcp.script_tokens.format import ALPHABET, checksum_of, is_script_token, new_script_token
from tests.api import Api

DOCS = Path(__file__).resolve().parents[3] / "docs"
TOKEN = "porthole_st_" + "A" * 43


def test_new_tokens_are_recognized_and_no_two_are_alike() -> None:
    tokens = {new_script_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(is_script_token(token) for token in tokens)


def test_a_checksum_is_crc_32_in_base_62() -> None:
    digits = checksum_of(TOKEN)
    number = 0
    for digit in digits:
        number = number * 62 + ALPHABET.index(digit)
    assert (len(digits), number) == (6, zlib.crc32(TOKEN.encode()))


def test_a_token_with_any_character_changed_is_none() -> None:
    token = new_script_token()
    for place, character in enumerate(token):
        other = "x" if character != "x" else "y"
        assert not is_script_token(token[:place] + other + token[place + 1 :])


def test_the_documented_pattern_and_digits_are_ours() -> None:
    """What the page computes with them is run by tests/test_docs.py."""
    page = (DOCS / "authentication.md").read_text()
    pattern = re.search(r"`(porthole_st_\[.+?)`", page)
    assert pattern
    assert re.fullmatch(pattern[1], new_script_token())
    assert f'DIGITS = "{ALPHABET}"' in page


@pytest.mark.parametrize(
    "token",
    [
        "porthole_st_", TOKEN, TOKEN + "000000", TOKEN + checksum_of(TOKEN) + "0", (TOKEN + checksum_of(TOKEN)).upper(),
        "porthole_at_" + "A" * 43 + checksum_of(TOKEN), TOKEN + checksum_of(TOKEN)[:-1] + "\u0661", "porthole_st_é",
    ],
)  # fmt: skip
def test_what_cannot_be_a_token_for_scripts_is_refused_without_a_query(
    api: Api, token: str, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        assert api.post("get_account", authorization=f"Bearer {token}").status_code == 401
