"""Where a repository is read from, and what that means for what is missing, damaged, or found in it."""

from collections.abc import Callable
from pathlib import Path

from apps.sources.git import listings
from apps.sources.git.integrity import has_whole_indexes
from apps.sources.git.mirrors import Mirror


class Origin:
    """Where a repository is read from: the checkout, which is as it is."""

    def lacks_only_what_was_filtered(self) -> bool:
        return True

    def mend(self) -> None:
        """Something could not be read."""

    def kept_scans(self) -> Path | None:
        """The folder for what was found in files."""
        return None

    def page(
        self, commit: str, path: str, start: int, count: int | None, make: Callable[[], listings.Page]
    ) -> listings.Page:
        """A page of a folder: made, or as it was made before."""
        return make()


class MirrorOrigin(Origin):
    """A generation of a mirror, which is fetched anew when it is damaged."""

    def __init__(self, mirror: Mirror, generation: Path) -> None:
        self._mirror, self._generation = mirror, generation
        self._has_whole_indexes: bool | None = None

    def lacks_only_what_was_filtered(self) -> bool:
        """Looked at once: one answer may ask for each of thousands of files."""
        if self._has_whole_indexes is None:
            self._has_whole_indexes = has_whole_indexes(self._generation)
        return self._has_whole_indexes

    def mend(self) -> None:
        self._mirror.mend(self._generation)

    def kept_scans(self) -> Path:
        return self._generation / "scanned"

    def page(
        self, commit: str, path: str, start: int, count: int | None, make: Callable[[], listings.Page]
    ) -> listings.Page:
        return listings.pages.get((self._generation, commit, path, start, count), make)
