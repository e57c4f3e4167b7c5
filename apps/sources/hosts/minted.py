"""Short-lived tokens, which this process keeps in memory as long as they are good for a while."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

MARGIN = timedelta(minutes=5)  # before it expires: a fetch that begins now must end with it
MAX_LIFE = timedelta(hours=1)  # whatever the host says


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Minted:
    token: str = field(repr=False)
    expires_at: datetime


class MintedTokens:
    """The last token of each key. Thread-safe; of one key one is minted at a time, and whoever waits gets that one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minting: dict[Hashable, threading.Lock] = {}
        self._tokens: dict[Hashable, Minted] = {}

    def get(self, key: Hashable, mint: Callable[[], Minted]) -> str:
        """Raises whatever `mint` raises; then nothing is kept, and who waits tries it too."""
        if (kept := self._kept(key)) is not None:
            return kept
        with self._lock:
            minting = self._minting.setdefault(key, threading.Lock())
        with minting:
            if (kept := self._kept(key)) is not None:
                return kept
            minted = mint()
            with self._lock:
                self._drop_expired()
                self._tokens[key] = minted
            return minted.token

    def forget(self, key: Hashable) -> None:
        with self._lock:
            self._tokens.pop(key, None)

    def _drop_expired(self) -> None:
        """Of installations that nobody asks for any more."""
        for key in [key for key, kept in self._tokens.items() if kept.expires_at <= now()]:
            del self._tokens[key]

    def _kept(self, key: Hashable) -> str | None:
        with self._lock:
            kept = self._tokens.get(key)
        if kept is None:
            return None
        return kept.token if now() < kept.expires_at - MARGIN else None
