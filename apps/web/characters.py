"""Text that outsiders wrote: without what nobody sees, and without what turns around, hides or ends what is beside it.

It is taken out where text is stored (`prose`) or keeps a name from being stored (`is_plain`). What can still come from
elsewhere, such as names of files in a repository, is shown as an escape (`escaped_json`, `escaped_page`).
"""

import re
import unicodedata

# What Unicode has for controls, bidirectional formatting, tags, deprecated formatting, and all else that it calls
# default-ignorable or no character at all: categories Cc, Cf and Cs, but for the signs in Cf that are seen.
_UNSEEN = (
    "\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
)
_UNSEEN_BEYOND = "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000)
)
# Joiners, and the selectors of variants: they belong to the character before them, or hide something.
_BOUND = "\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f"
GONE = re.compile(f"[\x00-\x08\x0e-\x1f{_UNSEEN}{_UNSEEN_BEYOND}\ud800-\udfff]")
BOUND = re.compile(f"[{_BOUND}]+")
SUSPECT = re.compile(f"[\x00-\x1f{_UNSEEN}{_UNSEEN_BEYOND}\ud800-\udfff{_BOUND}]")
# What is neither of these, told quickly: beyond the basic plane by a range, of which emoji are a part.
SUSPICIOUS = re.compile(f"[\x00-\x1f{_UNSEEN}\ud800-\udfff{_BOUND}\U0001bca0-\U0010ffff]")
SEEN_ASCII = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
# What a terminal takes for a command, whole: ESC [ … letter (or in one character), and ESC ] … BEL.
COMMAND = re.compile("(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)")
BREAK = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
BREAK_OR_TAB = re.compile("\r\n|[\t\n\r\x0b\x0c\x85\u2028\u2029]")
JOINERS = "\u200c\u200d"
EMOJI_SELECTORS = "\ufe0e\ufe0f"
EMOJI_OF_OTHER_KINDS = "‼⁉〰〽ℹ"
VIRAMA = 9  # a combining class: a joiner after it chooses how the letter before it looks, also at a word's end
# Not JSON's own: those are escaped already.
SHOWN_ESCAPED = re.compile(f"[\x00-\x08\x0e-\x1f{_UNSEEN}{_UNSEEN_BEYOND}\ufe00-\ufe0d]")


def prose(text: str, *, lines: bool = False) -> str:
    """The text as it is stored: never longer, and itself where it is clean already.

    Without `lines` each line break and each tab becomes a space. Zero-width joiners stay between letters, or emoji;
    a variation selector stays after an emoji.
    """
    if (text.isascii() and text.isprintable()) or not SUSPICIOUS.search(text):
        return text
    text = COMMAND.sub("", text)
    text = BREAK.sub("\n", text) if lines else BREAK_OR_TAB.sub(" ", text)
    return BOUND.sub(_what_stays, GONE.sub("", text))


def is_plain(text: str) -> bool:
    """Whether an identifier holds nothing that `prose` would change."""
    return prose(text) == text


def escaped_json(content: bytes) -> bytes:
    r"""The same JSON, with \u202e and the like where the characters themselves would stand."""
    if (content.isascii() and b"\x7f" not in content) or not _is_suspicious(content):
        return content
    text = content.decode()
    return SHOWN_ESCAPED.sub(_as_json, text).encode() if SHOWN_ESCAPED.search(text) else content


def escaped_page(content: bytes) -> bytes:
    r"""The same page, with \u{202e} and the like where the characters themselves would stand."""
    if not _is_suspicious(content):
        return content
    text = content.decode("utf-8", "replace")
    return as_words(text).encode() if SHOWN_ESCAPED.search(text) else content


def as_words(text: str) -> str:
    r"""The text with \u{202e} and the like where the characters themselves would stand."""
    return SHOWN_ESCAPED.sub(lambda found: f"\\u{{{ord(found[0]):04x}}}", text)


def json_growth(text: bytes) -> int:
    """By how many bytes `escaped_json` makes UTF-8 text longer, beside what JSON itself escapes."""
    found = SHOWN_ESCAPED.findall(text.decode("utf-8", "ignore")) if not text.isascii() or b"\x7f" in text else ()
    return sum(len(_units(one)) * 6 - len(one.encode()) for one in found if one >= " ")


def _is_suspicious(content: bytes) -> bool:
    return bool(SUSPICIOUS.search(content.translate(None, SEEN_ASCII).decode("utf-8", "replace")))


def _what_stays(found: re.Match[str]) -> str:
    """Of joiners and selectors in a row: at most a selector, and a joiner behind it."""
    run, text = found[0], found.string
    before, after = text[max(found.start() - 1, 0) : found.start()], text[found.end() : found.end() + 1]
    kept = run[0] if _is_selected(before, run[0], after) else ""
    joiner = next((one for one in run if one in JOINERS), "")
    return kept + (joiner if _joins(before, after) else "")


def _is_selected(before: str, selector: str, after: str) -> bool:
    if selector in EMOJI_SELECTORS:
        is_key = before in "#*0123456789" and after == "\u20e3"
        return bool(before) and (is_key or _is_emoji(before))
    return selector <= "\u180f" and "\u1820" <= before <= "\u18aa"  # Mongolian's own


def _joins(before: str, after: str) -> bool:
    if not before:
        return False
    return unicodedata.combining(before) == VIRAMA or (bool(after) and _is_joined(before) and _is_joined(after))


def _is_joined(one: str) -> bool:
    """A letter, a mark on one, a digit of a script that joins letters to it, or an emoji."""
    kind = unicodedata.category(one)[0]
    return kind in "LM" or (kind == "N" and not one.isascii()) or _is_emoji(one)


def _is_emoji(one: str) -> bool:
    """Generously: any symbol, since the table of emoji is no part of Python's. Newer ones by their block."""
    kind = unicodedata.category(one)
    is_symbol = kind == "So" or (kind == "Sm" and one >= "\u2190")
    return is_symbol or "\U0001f000" <= one <= "\U0001faff" or one in EMOJI_OF_OTHER_KINDS


def _units(one: str) -> list[int]:
    """Its UTF-16 code units, of which JSON's escapes are made."""
    raw = one.encode("utf-16-be")
    return [int.from_bytes(raw[at : at + 2]) for at in range(0, len(raw), 2)]


def _as_json(found: re.Match[str]) -> str:
    return "".join(f"\\u{unit:04x}" for unit in _units(found[0]))
