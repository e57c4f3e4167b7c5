"""How many clients each worker has, in memory that all of them see: new clients go to whoever has fewest."""

import mmap

NOBODY = -1  # no worker is counted here
NO_MORE = 2**31 - 1  # a worker that takes no new clients
# A worker that has more clients than another one leaves a new one to it for a moment: it may stand still.
GIVING_WAY = 0.05  # seconds
MAX_WORKERS = 256  # also those that end while others have begun

_memory = mmap.mmap(-1, 4 * MAX_WORKERS)
_counts = memoryview(_memory).cast("i")
for _place in range(MAX_WORKERS):
    _counts[_place] = NOBODY


class Share:
    """A worker's count. It is made in the arbiter, before it forks; only the worker writes it."""

    def __init__(self) -> None:
        # The last one is shared by all who come when there is no other.
        self._place = next((place for place in range(MAX_WORKERS) if _counts[place] == NOBODY), MAX_WORKERS - 1)
        self._waits_until = 0.0
        self.note(0)

    def note(self, count: int) -> None:
        _counts[self._place] = count

    def close(self) -> None:
        """In the arbiter, when the worker is gone."""
        self.note(NOBODY)

    def waits(self, now: float) -> bool:
        """Whether new clients are left to others just now."""
        return now < self._waits_until

    def gives_way(self, now: float) -> bool:
        """Whether a client that has come is left to others. One that none of them has taken by then is not."""
        if now < self._waits_until + GIVING_WAY or self._is_least():
            self._waits_until = 0.0
            return False
        self._waits_until = now + GIVING_WAY
        return True

    def _is_least(self) -> bool:
        others = (count for place, count in enumerate(_counts) if place != self._place and count != NOBODY)
        return min(others, default=NO_MORE) >= _counts[self._place]
