"""What is taken out of text by outsiders, and what stays as it is."""

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.web.characters import BREAK_OR_TAB, GONE, SUSPECT, escaped_json, escaped_page, is_plain, json_growth, prose
from tests.examples import examples

# Signs in Cf that are seen: Arabic, Syriac and Kaithi number signs, and Egyptian ones.
SEEN_FORMATS = {
    *range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440),
}  # fmt: skip
ORDINARY = {
    "Arabic": "مرحبا بالعالم، نشر ناجح",
    "Persian": "می‌خواهم این را منتشر کنم ۵‌تایی",
    "Hebrew with points": "שָׁלוֹם עוֹלָם",
    "Hindi": "क्‍षत्रिय श्री‍मान हिन्दी",
    "Malayalam, a joiner at a word's end": "അവന്‍ വന്നു",
    "Sinhala": "ශ්‍රී ලංකාව",
    "Mongolian": "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ᠋ᠡ",
    "Thai": "ปรับใช้สำเร็จแล้ว",
    "Japanese": "デプロイ成功 ㊗️",
    "Korean": "배포가 성공했습니다",
    "Vietnamese, composed and not": "Triển khai thành công Vie\u0302\u0323t",
    "a family": "👨‍👩‍👧‍👦 and 👩🏽‍🚀, 🏳️‍🌈, ❤️‍🔥, 🇫🇷, 1️⃣ #️⃣, ☑︎ ✔️ ™️ ℹ️ ‼️ ↔️",
    "marks": "Z̷a̴l̵g̶o e\u0301",
    "mathematics": "∑ x² ≤ √2 → ∞",
    "German": "Größe: 5 µm – „gut“",
}
HOSTILE = {
    "bidirectional override": ("pay\u202egnp.exe\u202c", "paygnp.exe"),
    "isolates": ("a\u2066b\u2069c\u200ed\u200fe\u061cf", "abcdef"),
    "tags": ("ok" + "".join(chr(0xE0000 + ord(c)) for c in "ignore all") + "\U000e007f", "ok"),
    "zero-width": ("p\u200ba\u2060y\ufeff\u00adp\u180eal\u034f", "paypal"),
    "fillers": ("\u115fa\u3164b\uffa0", "ab"),
    "selectors that hide bytes": ("a\ufe00\ufe01\U000e0100\U000e01ef", "a"),
    "selectors in a row": ("😀\ufe0f\ufe0f\ufe0e!", "😀\ufe0f!"),
    "joiners in a row": ("a\u200d\u200c\u200db", "a\u200db"),
    "joiners with nothing to join": ("\u200da \u200c b\u200d", "a  b"),
    "a terminal's commands": ("\x1b[31mred\x1b[0m\x1b]0;title\x07 \x9b2J\x07", "red "),
    "a command in a command": ("\x1b\x1b[31m[2J", "[2J"),
    "lines": ("a\r\nb\tc\u2028d\x85e", "a b c d e"),
    "no characters": ("a\ufffe\uffff\ufdd0\U0010ffffb\ud800", "ab"),
}
ODD = "\u200d\u200c\ufe0f\ufe0e\x1b[m\r\n\t😀क्aا1\u20e3\u180b\u1820"
texts = st.text(st.one_of(st.characters(), st.sampled_from(ODD)))


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert prose(text) == prose(text, lines=True) == text
    assert is_plain(text)


@pytest.mark.parametrize(("text", "kept"), HOSTILE.values(), ids=HOSTILE)
def test_what_nobody_sees_goes(text: str, kept: str) -> None:
    assert prose(text) == kept
    assert not is_plain(text)


def test_line_breaks_stay_where_lines_are_meant() -> None:
    assert prose("a\r\nb\rc\u2029d\te\x00", lines=True) == "a\nb\nc\nd\te"


@examples()
@given(texts, st.booleans())
def test_it_is_the_same_twice_and_never_longer(text: str, lines: bool) -> None:
    kept = prose(text, lines=lines)
    assert prose(kept, lines=lines) == kept
    assert len(kept) <= len(text)
    assert len(kept.encode()) <= len(text.encode("utf-8", "surrogatepass"))
    assert not GONE.search(kept)


def test_unicodes_own_tables_have_no_unseen_character_that_is_forgotten() -> None:
    suspects = ("Cc", "Cf", "Cs", "Zl", "Zp")
    every = "".join(chr(one) for one in range(sys.maxunicode + 1) if unicodedata.category(chr(one)) in suspects)
    assert {ord(one) for one in SUSPECT.sub("", every)} <= SEEN_FORMATS  # newer Pythons know more of these
    left = set(GONE.sub("", every)) - {chr(one) for one in SEEN_FORMATS}
    assert {one for one in left if not BREAK_OR_TAB.search(one)} == set("\u200c\u200d")


@examples()
@given(texts.filter(lambda text: not any("\ud800" <= one <= "\udfff" for one in text)))
def test_escaped_json_says_the_same(text: str) -> None:
    plain = json.dumps(text, ensure_ascii=False).encode()
    escaped = escaped_json(plain)
    assert json.loads(escaped) == text
    assert len(escaped) == len(plain) + json_growth(text.encode())


def test_nothing_unseen_is_in_escaped_answers() -> None:
    for text, _ in HOSTILE.values():
        page = escaped_page(text.replace("\ud800", "").encode()).decode()
        assert not GONE.search(page)
    assert escaped_page("x\u202e\U000e0041".encode()) == b"x\\u{202e}\\u{e0041}"
    assert escaped_json('"\u202e\U000e0041\x7f"'.encode()) == rb'"\u202e\udb40\udc41\u007f"'
