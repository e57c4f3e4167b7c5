"""What the C library keeps of memory: as little as workers need."""

import ctypes
from contextlib import suppress

M_ARENA_MAX = -8  # glibc's malloc.h


def keep_little() -> None:
    """In the arbiter, before it forks: no heap of its own for each thread, and what importing left free goes back.

    Threads take turns at Python's lock, so they do not wait for each other at malloc's. Only glibc has these calls.
    """
    libc = ctypes.CDLL(None)
    with suppress(AttributeError):
        libc.mallopt(M_ARENA_MAX, 1)
        libc.malloc_trim(0)
