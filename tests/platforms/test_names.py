"""Names of variables, and never a value."""

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.platforms.names import MAX_TEXT, names_of
from tests.examples import examples

PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEA==\nabcd=\n-----END PRIVATE KEY-----"


def names(text):
    return [variable.name for variable in names_of(text).names]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1\nB=2", ["A", "B"]),
        ("A=1\r\nB=2\rC=3", ["A", "B", "C"]),
        ("  export  A = 1\nexport\tB=2", ["A", "B"]),
        ("A: 1\nB:2", ["A"]),
        ("# A=1\nB=2 # C=3\nD=4#E=5", ["B", "D"]),
        ("A=\nB=''\nC", ["A", "B"]),
        ('A="x\nB=2\n"\nC=3', ["A", "C"]),
        ("A='x\nB=2\n'\nC=3", ["A", "C"]),
        ("A=`x\nB='\"\n`\nC=3", ["A", "C"]),
        ('A="x\\"\nB=2\n"\nC=3', ["A", "C"]),
        ('A=\n"x\nB=2"\nC=3', ["A", "C"]),
        ("A='x\nB=it's", ["A", "B"]),
        ("A=don't\nB=can't", ["A", "B"]),
        ('A={"x": "y", "z": 1}\nB=2', ["A", "B"]),
        ("a.b-c_d=1\nA=1\nA=2", ["a.b-c_d", "A"]),
        ("\ufeffA=1", ["A"]),
        ("", []),
    ],
)
def test_the_grammar_is_that_of_dotenv(text, expected):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "skipped"),
    [
        (f'KEY="{PEM}"\nB=2', ["KEY", "B"], 0),
        (f"KEY={PEM}\nB=2", ["KEY", "B"], 0),
        (f"KEY={PEM[:60]}\nAQEFAASCBKcwggSjAgEA==\nB_2=2", ["KEY", "B_2"], 0),
        ("KEY=abc\nQmFzZTY0IQ==\nfooBar=\nEMPTY=\nkey=", ["KEY", "EMPTY", "key"], 2),
        ("KEY=QmFzZTY0QmFzZTY0QmFzZTY0\nabcdefg=", ["KEY"], 1),
        ("MIIEvQIBADANBgkqhkiG9w0BAQ=1\n1A=2\nghp_0123456789abcdefghij0123456789=3", [], 3),
        ("K" * 128 + "=1\n" + "L" * 129 + "=1", ["K" * 128], 1),
    ],
)  # fmt: skip
def test_what_looks_like_a_value_is_no_name_and_is_counted(text, expected, skipped):
    assert names(text) == expected
    assert names_of(text).skipped == skipped


def test_references_are_kept_as_names():
    text = 'A=${{project.DATABASE_URL}}\nB="${{environment.X}}-${{ Y }}-${{Y}}"\nC=${{vault.db.KEY}} # ${{Z}}\nD=${X}'
    assert {variable.name: variable.references for variable in names_of(text).names} == {
        "A": ("project.DATABASE_URL",),
        "B": ("environment.X", "Y"),
        "C": ("vault.db.KEY",),
        "D": (),
    }


def test_a_reference_that_looks_like_a_value_is_not_kept():
    assert names_of("A=${{MIIEvQIBADANBgkqhkiG9w0BAQ}}").names[0].references == ()
    assert len(names_of("A=" + "".join(f"${{{{N{number}}}}}" for number in range(30))).names[0].references) == 20


def test_an_encrypted_text_is_not_readable():
    assert not names_of(" enc:v1:QUJD=\nA=1").is_readable
    assert names_of(" enc:v1:QUJD=\nA=1").names == ()
    assert names_of("A=enc:v1:x").is_readable


def test_a_text_that_is_cut_off_in_a_value_gives_no_names_from_inside():
    text = 'A=1\nB="' + "x" * MAX_TEXT
    assert names(text[:100] + "\nC=1\n" + text[100:] + '"\nD=1') == ["A"]
    assert names("A=1\n" + "#" * MAX_TEXT + "\nB=2") == ["A"]


@pytest.mark.parametrize(
    "text",
    [
        "\n" * MAX_TEXT, "A=" + "\n" * MAX_TEXT + "x", "A=\n" * 80_000, "A=\"\\\"\n" * 50_000, "A='\\'" * 50_000,
        "-----BEGIN " * 25_000, "-----BEGIN x-----\n" * 15_000, "${{" * 80_000, "a" * MAX_TEXT, "A=" + '"\\' * 130_000,
        "A: \n" * 60_000, "A=\"\n" * 60_000 + "'", "export " * 40_000, "A" + " " * MAX_TEXT, "A=${{" * 50_000,
    ],
    ids=range(15),
)  # fmt: skip
def test_no_text_takes_long(text):
    began = time.process_time()
    names_of(text)
    assert time.process_time() - began < 3


CANARY = "canaryX7q9"
SAFE = st.text("abcXYZ019 =:+/.-_$%#", max_size=12)


def _base64_with_canary(padding):
    body = base64.b64encode(bytes(range(48)) * 3).decode()
    tail = CANARY + "A" * (-(len(CANARY) + padding) % 4) + "=" * padding
    return "\n".join([body[start : start + 64] for start in range(0, 192, 64)] + [tail])


VALUES = st.one_of(
    SAFE.map(lambda text: f'"{text}\n{CANARY}=1\n{text}"'),
    SAFE.map(lambda text: f"'{text}\nexport {CANARY}: 2\n'"),
    SAFE.map(lambda text: f"`\n{text}\n{CANARY}=\n`"),
    SAFE.map(lambda text: f'"\\"\n{CANARY}=\\"{text}"'),
    SAFE.map(lambda text: f'\n"{CANARY}={text}\n{CANARY}=1"'),
    SAFE.map(lambda text: f"{CANARY}{text}"),
    SAFE.map(lambda text: f"x # {CANARY}={text}\n# {CANARY}=1"),
    st.sampled_from([PEM.replace("MIIEv", CANARY), PEM.replace("abcd=", CANARY + "="), PEM.replace("abcd", CANARY)]),
    st.sampled_from([0, 1, 2]).map(_base64_with_canary),
    st.sampled_from([1, 2]).map(lambda padding: '"' + _base64_with_canary(padding) + '"'),
    st.sampled_from([f"${{{{{CANARY} x}}}}", f"${{{{{CANARY}/x}}}}", f"eyJ{CANARY}.{CANARY}.{CANARY}"]),
)
KEYS = st.sampled_from(["A=", "export B_2=", "  C: ", "d.e-f = ", "export\tG="])


@examples(400)
@given(st.lists(st.tuples(KEYS, VALUES), max_size=6), st.sampled_from(["\n", "\r\n", "\n\n# it's\n"]))
def test_no_value_is_in_what_is_told(bindings, between):
    found = names_of(between.join(key + value for key, value in bindings))
    assert CANARY not in repr(found)
    assert {variable.name for variable in found.names} <= {"A", "B_2", "C", "d.e-f", "G"}


@examples(400)
@given(st.text("aB=:'\"`\\\n\r#${} -/+e\x00\ud800é", max_size=60))
def test_every_text_has_names_that_may_be_kept(text):
    for variable in names_of(text).names:
        assert variable.name.isascii()
        assert "\n" not in variable.name
