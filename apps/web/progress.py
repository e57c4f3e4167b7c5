"""How far long work has got, for whoever watches it: what works tells, what watches decides what to show."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# What is being done ("Reading"), how many of how many, and of what ("rows").
Watcher = Callable[[str, int, int, str], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell(step: str, done: int, of: int, unit: str) -> None:
    """Costs nothing where nobody watches. Threads that this one starts are not watched."""
    if watcher := _watcher.get():
        watcher(step, done, of, unit)
