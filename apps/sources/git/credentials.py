"""Credentials in texts: where they are. Found by what they look like (credential_kinds.py), never by entropy."""

import re
import time
from collections.abc import Callable, Iterable, Iterator

from apps.sources.git.credential_kinds import LONG, OF_LONG_WORDS, Kind, known_kinds
from apps.sources.git.values import Span

LIMIT = 0.2  # seconds of this thread's time
thread_time: Callable[[], float] = time.thread_time

# A text is searched as if every byte were a character, so that places are bytes. What is not ASCII is in no credential.
ASCII = bytes(byte if byte < 0x80 else 0x7F for byte in range(256))
WORDS = bytes(byte if chr(byte) in OF_LONG_WORDS else ord(" ") for byte in range(256))
# What belongs to a token that is longer than its pattern knows.
REST = re.compile(r"[A-Za-z0-9_+=-]*")


class TooSlow(Exception):
    """The text is such that looking through it would take too long."""


def credentials_in(text: bytes) -> Iterator[Span]:
    """Where credentials are, in no order, also one in another. Raises TooSlow."""
    kinds = known_kinds()  # before the clock: the first time it imports and compiles
    end = thread_time() + LIMIT
    characters = text.translate(ASCII).decode("ascii")
    lowered, long_words = characters.lower(), _long_words(text)
    for kind in kinds:
        _check(end)
        for word in kind.words:
            if isinstance(word, re.Pattern) or not kind.is_in_long_word or word in long_words:
                yield from _around(word, kind, characters, lowered, end)


def _long_words(text: bytes) -> str:
    """A tenth of most texts, in which most kinds are looked for first."""
    return " ".join(word for word in text.translate(WORDS).decode("ascii").split() if len(word) >= LONG)


def _around(word: str | re.Pattern[str], kind: Kind, text: str, lowered: str, end: float) -> Iterator[Span]:
    done = 0
    for place in _places(word, lowered if kind.pattern.flags & re.IGNORECASE else text):
        _check(end)
        if place < done:
            continue
        for match in _matches(kind, text, max(done, place - kind.before), place):
            start, stop = match.span(kind.group)
            stop = REST.match(text, stop).end()  # type: ignore[union-attr]  # it matches nothing, too
            done = max(done, stop)
            if len(set(text[start:stop])) >= kind.min_variety:
                yield start, stop


def _check(end: float) -> None:
    if thread_time() > end:
        raise TooSlow


def _matches(kind: Kind, text: str, start: int, place: int) -> Iterable[re.Match[str]]:
    stop = place + kind.after
    if kind.before:
        return kind.pattern.finditer(text, start, stop)
    match = kind.pattern.match(text, place, stop)
    return (match,) if match else ()


def _places(word: str | re.Pattern[str], text: str) -> Iterator[int]:
    if isinstance(word, re.Pattern):
        yield from (match.start() for match in word.finditer(text))
        return
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)
