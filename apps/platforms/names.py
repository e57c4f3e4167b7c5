"""Names of variables, from a text that also holds their values. Values never leave this module, nor outlive a call.

The grammar is that of npm's dotenv 16, with which Dokploy reads the same text: `export`, three kinds of quotes, values
of several lines, comments, `KEY: value`. Splitting at lines and `=` would turn secret bytes into "names".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from apps.platforms.snapshot.bounds import Name

MAX_TEXT = 256 * 1024
MAX_REFERENCES = 20
ENCRYPTED = "enc:v1:"  # how Dokploy begins what it has encrypted, where it does not decrypt it again

# A key, and after `=` or `: ` a value: in quotes (of which each may be escaped in itself), else to a # or the line's
# end. An opening quote may follow on a later line, but a key may not end on one.
BINDING = re.compile(
    r"""
    ^[^\S\n]* (?:export\s+)? (?P<key>[A-Za-z0-9_.-]+) (?: [^\S\n]*=\s*? | :\s+? )
    (?P<value> \s*'(?:\\'|[^'])*' | \s*"(?:\\"|[^"])*" | \s*`(?:\\`|[^`])*` | [^#\n]+ )?
    \s* (?:\#.*)? $
    """,
    re.MULTILINE | re.VERBOSE,
)
BEGIN, END, DASHES = "-----BEGIN ", "-----END ", "-----"
# A key in PEM without an end: what may be base64 below it goes with it.
OPEN_PEM = re.compile(r"-----BEGIN [^\n]*(?:\n[A-Za-z0-9+/=\\ \t\"'`]*$)*", re.MULTILINE)
REFERENCE = re.compile(r"\$\{\{\s*([^{}\s]{1,256})\s*\}\}")
BASE64_LINE = re.compile(r"[A-Za-z0-9+/_-]{20,}\s*\Z")
NAME, REFERENCE_NAME = Name(), Name(reference=True)


@dataclass(frozen=True, slots=True)
class VariableName:
    """A name, and the names that its value refers to, such as project.DATABASE_URL."""

    name: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """Each once, in the order of the text. `skipped`: what stood in the place of a name and looks like none.

    Not readable: the text is encrypted, so that nothing is known of it.
    """

    names: tuple[VariableName, ...] = ()
    skipped: int = 0
    is_readable: bool = True


def names_of(text: str) -> Names:
    """Of a text such as that of a .env file."""
    if text.lstrip().startswith(ENCRYPTED):
        return Names(is_readable=False)
    found: dict[str, VariableName] = {}
    skipped = 0
    for key, references in _bindings(text):
        if key is None or NAME.problem(key):
            skipped += 1
        else:
            found[key] = VariableName(key, references)  # the last one counts, as it does for dotenv
    return Names(tuple(found.values()), skipped)


def references_in(value: str) -> tuple[str, ...]:
    """What a value refers to, as `${{project.NAME}}`, `${{environment.NAME}}`, `${{vault.NAME}}` or `${{NAME}}`."""
    names = dict.fromkeys(match[1] for match in REFERENCE.finditer(value))
    return tuple(name for name in names if not REFERENCE_NAME.problem(name))[:MAX_REFERENCES]


def _bindings(text: str) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """A key and what its value refers to; no key where it is rather the end of a value."""
    text, is_cut = _readable(text)
    for match in BINDING.finditer(text):
        value = (match["value"] or "").strip()
        if is_cut and _is_open(value):
            return  # its end was cut off, so that what follows may be inside of it
        above = text[max(0, match.start() - 100) : match.start()]
        yield None if _is_end_of_base64(match["key"], value, above) else match["key"], references_in(value)


def _readable(text: str) -> tuple[str, bool]:
    is_cut = len(text) > MAX_TEXT
    text = text[:MAX_TEXT].replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", " ")
    return _without_pem(text), is_cut


def _without_pem(text: str) -> str:
    """By searching, not by an expression: many beginnings without an end would take it hours."""
    kept, at = [], 0
    while (begin := text.find(BEGIN, at)) >= 0 and (end := text.find(END, begin)) >= 0:
        kept.append(text[at:begin])
        close = text.find(DASHES, end + len(END))
        at = len(text) if close < 0 else close + len(DASHES)
    return "".join(kept) + OPEN_PEM.sub("", text[at:])


def _is_open(value: str) -> bool:
    return value[:1] in ("'", '"', "`") and (len(value) == 1 or value[0] != value[-1])


def _is_end_of_base64(key: str, value: str, above: str) -> bool:
    """Whether `key=` or `key==` is what base64 ends with, rather than a variable that is empty."""
    if value == "=":
        return True
    if value:
        return False
    is_mixed = key not in (key.upper(), key.lower()) and "_" not in key
    return bool(BASE64_LINE.search(above)) or (is_mixed and len(key) % 4 in (2, 3))
