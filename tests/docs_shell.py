"""What keeps a command line of the documentation from working as written: in an empty shell, on Debian and on macOS."""

import re
from collections.abc import Iterable, Iterator

from tests.docs_examples import Block

SHELL = ("sh", "console")
# What only one of GNU's and BSD's tools knows, or one of the two systems has.
TOOLS = {
    r"\bsed\b.* -i": "BSD's sed wants a suffix after -i: write to another file",
    r"\bdate\b.* (-d|--\w|-I)": "BSD's date has no -d, no -I and no long options",
    r"\bbase64\b.* (-w|--)": "BSD's base64 has no -w: openssl base64 -A",
    r"\bbasenc\b": "GNU only: openssl base64 -A | tr '+/' '-_'",
    r"\b(tac|shuf|nproc|setsid|xdg-open|numfmt|sha\d+sum|md5sum)\b": "not on macOS",
    r"^\s*(open|pbcopy|brew)\b": "on macOS only",
    r"\btimeout \d": "not on macOS",
    r"\breadlink -f": "older versions of macOS lack -f",
    r"\bstat -": "other options on each",
    r"\bgrep\b[^|]* (-\w*P|--)": "BSD's grep has no -P and other long options",
    r"\bfind\b[^|]* -printf": "BSD's find has no -printf",
    r"\bxargs\b[^|]* -[rd]\b": "BSD's xargs has no -d, and no -r in older versions",
    r"\bhead -n ?-": "BSD's head has no negative count",
    r"(^|[|;&(]\s*)(cp|mv|ln|ls|mktemp|tail|wc|du|cut|tr|rm)\b[^|]* --\w": "BSD's has no long options",
    r"\bmktemp\b.* -[pt]": "other meanings on each",
    r"(^|[|;&(]\s*)(python|pip)3? ": "python may be missing or another one: .venv/bin/python, or python3 to make .venv",
}
PYTHON_FOR_VENV = re.compile(r"\bpython3 -(m venv|c)\b")  # Debian and macOS have it, and it needs nothing of ours
# What dash lacks, or does otherwise than bash and zsh.
SHELLS = {
    r"\[\[|<<<|<\(|&>|\|&|\$'|\bfunction |^\s*source |\w=\(": "not in every shell",
    r"\bread\b.* -[spn]\b": "not in every shell",
    r"\becho -": "not in every shell: printf",
    r'\becho "?\$\w+"? *\|': r"dash and zsh make line breaks of \n in it: printf '%s'",
    r"(^|\s)(status|path|argv)=": "has a meaning of its own in zsh",
    r'"[^"]*![^" ][^"]*"': "bash and zsh look into the history",
}
# Outside of quotes.
BARE = {
    r"(^|\s)#": "zsh takes it for a command where it is typed, quotes in it too",
    r"https?://\S*[?*\[]": "zsh looks for files: put the address into quotes",
}
DOUBLE_QUOTED = re.compile(r'"[^"]*"')
SINGLE_QUOTED = re.compile(r"'[^']*'", re.DOTALL)
USED = re.compile(r"\$\{?([A-Za-z_]\w*)")
SET = re.compile(r"(?:^|\s|\()([A-Za-z_]\w*)=|\bfor (\w+) in\b|\bread (?:-r )?(\w+)", re.MULTILINE)
# What the text of the page says has to be set, or every shell has.
GIVEN = {"HOME", "PATH", "PWD", "DATABASE_URL", "PUBLIC_URL", "DATA_DIR", "TOKEN", "PORTHOLE_TOKEN", "PORTHOLE_URL"}


def commands_of(block: Block) -> str:
    """The lines that are typed: of a console, those behind its prompt and the lines that they go on in."""
    if block.language == "sh":
        return block.text
    typed, goes_on = [], False
    for line in block.text.splitlines():
        if goes_on or line.startswith("$ "):
            typed.append(line.removeprefix("$ "))
            goes_on = line.endswith("\\")
    return "\n".join(typed) + "\n"


def problems_of(blocks: Iterable[Block]) -> Iterator[str]:
    """Of the blocks of one page, in their order."""
    known = set(GIVEN)
    for block in blocks:
        if block.language not in SHELL:
            continue
        # What is in single quotes is for other programs: JSON, jq, Python.
        text = SINGLE_QUOTED.sub("''", commands_of(block))
        known |= {name for names in SET.findall(text) for name in names if name}
        yield from (f"{block.place}: {name} is not set" for name in USED.findall(text) if name not in known)
        for line in text.replace("\\\n", " ").splitlines():
            yield from (f"{block.place}: {line.strip()}: {why}" for why in _reasons(line))


def _reasons(line: str) -> Iterator[str]:
    line = PYTHON_FOR_VENV.sub("", line)
    yield from (why for pattern, why in (TOOLS | SHELLS).items() if re.search(pattern, line))
    yield from (why for pattern, why in BARE.items() if re.search(pattern, DOUBLE_QUOTED.sub('""', line)))
