"""Pages of folders, kept: a commit does not change, and to make a page takes a look at every file on it."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from sys import getsizeof

from apps.sources.git.values import Entry

Page = tuple[Entry, ...]
# A mirror's generation, which one organization alone reads; the commit, the path, where the page begins, its length.
Key = tuple[Path, str, str, int, int | None]

MAX_BYTES = 8 * 2**20  # of all pages, in each process
MAX_PAGE_BYTES = MAX_BYTES // 16
ENTRY_BYTES = 250  # of an entry, beside its path and its name


class Pages:
    """At most MAX_BYTES of them: what was asked for longest ago goes first. Safe under threads."""

    def __init__(self) -> None:
        self.size = 0
        self._pages: OrderedDict[Key, tuple[Page, int]] = OrderedDict()  # with their sizes
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], Page]) -> Page:
        """The page as it was made before, else made now."""
        with self._lock:
            if key in self._pages:
                self._pages.move_to_end(key)
                return self._pages[key][0]
        page = make()
        self._keep(key, page, _size(page))
        return page

    def clear(self) -> None:
        with self._lock:
            self._pages.clear()
            self.size = 0

    def _keep(self, key: Key, page: Page, size: int) -> None:
        if size > MAX_PAGE_BYTES:
            return
        with self._lock:
            if key in self._pages:  # another thread was quicker
                return
            self._pages[key] = page, size
            self.size += size
            while self.size > MAX_BYTES:
                self.size -= self._pages.popitem(last=False)[1][1]


def _size(page: Page) -> int:
    return ENTRY_BYTES + sum(ENTRY_BYTES + getsizeof(entry.path) + getsizeof(entry.name) for entry in page)


pages = Pages()
