"""Values that are made once: when somebody asks for them first, or before that by a process of their own."""

import marshal
import os
import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """A function that remembers what it returned, as functools.cache makes one. Another process may tell it that."""

    def __init__(self, make: Callable[..., T]) -> None:
        self.make = make
        self.made: dict[tuple[Hashable, ...], T] = {}

    def __call__(self, *of: Any) -> T:
        if of not in self.made:
            self.made[of] = self.make(*of)
        return self.made[of]


Made = tuple[Once[Any], *tuple[Hashable, ...]]  # and what it is asked for


def make_apart(*calls: Made) -> None:
    """Makes what these will be asked for, in a child process: what that takes in imports and memory ends with it.

    The values are of Python's own plain kinds. Those that cannot be made are left to whoever asks, who then learns why.
    """
    if threading.active_count() > 1:  # a child would have their locks, and nobody who releases them
        return
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _tell(writer, calls)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if status == 0:
        for (once, *of), value in zip(calls, marshal.loads(told), strict=True):  # noqa: S302  (our own child's)
            once.made[tuple(of)] = value


def _tell(writer: int, calls: tuple[Made, ...]) -> None:
    """Ends the process, without what it inherited being tidied up."""
    status = 1
    try:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(marshal.dumps([once(*of) for once, *of in calls]))
        status = 0
    finally:
        os._exit(status)
