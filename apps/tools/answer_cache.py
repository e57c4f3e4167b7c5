"""Answers that were made are kept in memory while they are right: how many bytes of them, and whose go first."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime

OVERHEAD = 700  # bytes, beside an answer's own: what Python needs to keep it, measured
SHARES = 4  # whoever has more than this part of the cache makes room from what is their own


@dataclass(frozen=True, slots=True)
class Answer:
    """`head` and `tail` are its JSON before and after the value of syncedAt, which each caller is told anew.

    It is right while the organization has these `versions`, and before `until`. `digest` and `version` are a list's.
    """

    versions: tuple[int, ...]
    until: datetime | None
    head: bytes
    tail: bytes
    digest: bytes = b""
    version: str = ""


@dataclass(slots=True)
class _Shelf:
    """One organization's answers by question, the one that was asked for longest ago first."""

    answers: OrderedDict[str, Answer] = field(default_factory=OrderedDict)
    size: int = 0


class AnswerCache:
    """At most `max_bytes` of answers; 0 keeps none. Safe under threads; each process has its own."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.size = 0
        self._shelves: OrderedDict[str, _Shelf] = OrderedDict()  # whose organization asked longest ago first
        self._lock = threading.Lock()

    def get(self, organization_id: str, question: str, versions: tuple[int, ...], now: datetime) -> Answer | None:
        with self._lock:
            shelf = self._shelves.get(organization_id)
            answer = shelf.answers.get(question) if shelf else None
            if shelf is None or answer is None or answer.versions != versions:
                return None
            if answer.until is not None and answer.until <= now:
                return None
            shelf.answers.move_to_end(question)
            self._shelves.move_to_end(organization_id)
            return answer

    def keep(self, organization_id: str, question: str, answer: Answer) -> None:
        """In the place of what was the answer before. One that takes more than a share of all is not kept."""
        size = _size(question, answer)
        if size > self.max_bytes // SHARES:
            return
        with self._lock:
            self._drop(organization_id, question)
            shelf = self._shelves.setdefault(organization_id, _Shelf())
            shelf.answers[question] = answer
            self._shelves.move_to_end(organization_id)
            shelf.size += size
            self.size += size
            while self.size > self.max_bytes:
                self._make_room(organization_id, shelf)

    def clear(self) -> None:
        with self._lock:
            self._shelves.clear()
            self.size = 0

    def _make_room(self, organization_id: str, shelf: _Shelf) -> None:
        """So one who asks ten thousand different questions pushes out no more than a share of what others asked."""
        owner = organization_id if shelf.size > self.max_bytes // SHARES else next(iter(self._shelves))
        self._drop(owner, next(iter(self._shelves[owner].answers)))

    def _drop(self, organization_id: str, question: str) -> None:
        shelf = self._shelves.get(organization_id)
        answer = shelf.answers.pop(question, None) if shelf else None
        if shelf is None or answer is None:
            return
        size = _size(question, answer)
        shelf.size -= size
        self.size -= size
        if not shelf.answers:
            del self._shelves[organization_id]


def _size(question: str, answer: Answer) -> int:
    return len(question) + len(answer.head) + len(answer.tail) + OVERHEAD
