"""How many calls a minute: every caller gets a turn, in order, and waits for it."""

import threading
import time
from collections.abc import Callable

Clock = Callable[[], float]


class TokenBucket:
    """`per_minute` turns, evenly, after `burst` that may come at once where nobody came for a while. Thread-safe.

    In no minute there are more than `per_minute + burst`.
    """

    def __init__(
        self, per_minute: int, burst: int, *, clock: Clock = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if per_minute < 1 or burst < 1:
            raise ValueError("There must be a turn now and then.")
        self._interval, self._slack = 60 / per_minute, (burst - 1) * 60 / per_minute
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self.taken = 0
        self._next = 0.0  # when the next turn is, were there no bursts (the GCRA's theoretical arrival time)

    def wait(self) -> None:
        with self._lock:
            now = self._clock()
            turn = max(self._next, now)
            self._next = turn + self._interval
            self.taken += 1
        if (delay := turn - self._slack - now) > 0:
            self._sleep(delay)
