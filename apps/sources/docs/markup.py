"""Markdown → the words that people see of it."""

import html
import re

from apps.web.characters import prose

# The patterns below are bounded or possessive: a page of 2 MiB of opening brackets must not take minutes.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_LITERAL = re.compile(r"\\([!-/:-@\[-`{-~])|(?<!`)(`{1,4})(?!`)(.{1,500}?)(?<!`)\2(?!`)", re.DOTALL)  # \* or `code`
_TITLE = re.compile(r"""\btitle=\{?(?:"([^"]{1,300})"|'([^']{1,300})')""")
_HREF = r"\((?:[^()\n]{1,500}+|\([^()\n]{0,200}+\)){0,8}+\)"
_TAG = re.compile(
    r"""</?[A-Za-z][\w.-]{0,60}(?=[\s/>])
    (?: [^<>"'{]{1,500} | "[^"]{0,1000}" | '[^']{0,1000}' | \{(?:[^{}]|\{[^{}]{0,300}\}){0,1000}+\} ){0,64}+>""",
    re.VERBOSE,
)


def title_in(tag: str) -> str:
    """What stands in `title="…"`: the words people see of a tag or of a code block's first line."""
    title = _TITLE.search(tag)
    return f" {title[1] or title[2]} " if title else " "


# What is left of markup, in this order: outer forms before the inner ones they contain.
_MARKUP = (
    (re.compile(r"(?m)^ {0,3}\[[^\]\n^][^\]\n]{0,200}\]:[ \t]*\S.*$"), ""),  # [name]: target
    (re.compile(r"<((?:https?://|mailto:)[^<>\s]{1,500})>"), r"\1"),
    (_TAG, lambda tag: title_in(tag[0])),
    (re.compile(r"</?>"), " "),  # MDX fragments
    (re.compile(r"!\[([^\]\n]{0,300})\]" + _HREF), r"\1"),
    (re.compile(r"\[([^\[\]\n]{1,300})\]" + _HREF), r"\1"),
    (re.compile(r"\[([^\[\]\n]{1,300})\]\[[^\[\]\n]{0,200}\]"), r"\1"),
    (re.compile(r"\[\^[^\]\s]{1,50}\]:?"), ""),
    (re.compile(r"(?m)^[ \t]*(?:>[ \t]?){1,9}"), ""),
    (re.compile(r"(?m)^[ \t]*\[!(\w{1,20})\]"), r"\1"),
    (re.compile(r"(?m)^[ \t]*:{3,}"), ""),
    (re.compile(r"(?m)^[ \t]*(?:([-*_])[ \t]*)(?:\1[ \t]*){2,}$"), ""),
    (re.compile(r"(?m)^[ \t]*[-*+][ \t]+(?:\[[ xX]\][ \t]+)?"), ""),
    (re.compile(r"(?m)^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$"), ""),
    (re.compile(r"(?m)^[ \t]*\|.*$"), lambda row: row[0].replace("|", " ")),
    (re.compile(r"\*\*(?=\S)(.{1,500}?)(?<=\S)\*\*"), r"\1"),
    (re.compile(r"(?<!\w)__(?=\S)(.{1,500}?)(?<=\S)__(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]{1,300}?)(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)_(?=\S)([^_\n]{1,300}?)(?<=\S)_(?!\w)"), r"\1"),
    (re.compile(r"~~(?=\S)(.{1,300}?)(?<=\S)~~"), r"\1"),
)


def plain(text: str) -> str:
    """Markdown without its markup, on one line; the text of code spans stays as it is."""
    literals: list[str] = []

    def stash(literal: re.Match[str]) -> str:
        literals.append(literal[1] or literal[3].strip())
        return f"\x02{len(literals) - 1}\x03"

    text = _LITERAL.sub(stash, _CONTROL.sub(" ", text))  # with control characters gone, these two are ours alone
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    text = re.sub("\x02(\\d+)\x03", lambda place: literals[int(place[1])], html.unescape(text))
    return " ".join(prose(text).split())
