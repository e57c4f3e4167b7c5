"""The address of a page: what stands for its file, and for the directory that the file is in."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from apps.sources.docs.chunks import DIRECTORY_PAGES, MARKDOWN

FOREIGN = "~"  # what the addresses of pages begin with that are not Porthole's own
MAX_URL = 2048


def address_of(path: str) -> str:
    """Without .md, and `index` and `README` as their directory, with a slash at its end."""
    page = PurePosixPath(path)
    if page.suffix.lower() in MARKDOWN:
        page = page.with_suffix("")
    if page.name.lower() not in DIRECTORY_PAGES:
        return page.as_posix()
    return "" if page.parent == PurePosixPath() else f"{page.parent.as_posix()}/"


def addresses_of(paths: Sequence[str]) -> dict[str, str]:
    """The address of each file of one directory, no two the same.

    Where several would have the same, index goes before README and .md before .mdx; the others are at their own name.
    """
    by_address: dict[str, str] = {}
    named = {}
    for path in sorted(paths, key=_rank):
        if by_address.setdefault(address_of(path), path) != path:
            named[path] = path
    return {path: address for address, path in by_address.items()} | named


def _rank(path: str) -> tuple[bool, str, str]:
    file = PurePosixPath(path)
    return file.stem.lower() != "index", file.suffix, path


def url_of(base_url: str, address: str, anchor: str | None = None) -> str | None:
    """None: longer than 2,048 characters."""
    url = f"{base_url.rstrip('/')}/{quote(address, safe='/~')}" + (f"#{quote(anchor)}" if anchor else "")
    return url if len(url) <= MAX_URL else None


def prefixes(directories: Sequence[Path], own: Path | None) -> tuple[str, ...]:
    """What addresses begin with, for each directory: nothing for Porthole's own, ~name/ for any other."""
    return tuple(_prefixes(directories, own))


def _prefixes(directories: Sequence[Path], own: Path | None) -> Iterator[str]:
    counts: dict[str, int] = {}
    for directory in directories:
        if own and is_own(directory, own):
            yield ""
            continue
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(os.path.realpath(directory)).name).strip(".") or "docs"
        counts[name] = counts.get(name, 0) + 1
        yield f"{FOREIGN}{name}/" if counts[name] == 1 else f"{FOREIGN}{name}~{counts[name]}/"


def is_own(directory: Path, own: Path) -> bool:
    return os.path.realpath(directory) == os.path.realpath(own)
