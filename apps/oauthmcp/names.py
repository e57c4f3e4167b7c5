"""Names that apps give themselves: nobody checks them, so they must not fool a reader's eyes."""

import re
import unicodedata

MAX_NAME = 100
NAMELESS = "An app without a name"
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, format (so bidirectional and zero-width), unassigned
# Letters and marks by category, and yet nothing is to be seen of them.
BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def clean(text: str) -> str:
    """One short line with nothing in it that hides, reorders or imitates what is around it; perhaps nothing at all."""
    spaced = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text))
    seen = "".join(one for one in BLANK.sub("", spaced) if unicodedata.category(one) not in INVISIBLE)
    name = " ".join(seen.split())
    if not any(unicodedata.category(one)[0] in "LNSP" for one in name):  # marks alone have nothing to stand on
        return ""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1].rstrip()}…"
