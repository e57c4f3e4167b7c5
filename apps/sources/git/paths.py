"""Paths inside a repository, as clients write them: relative, / between names, nothing that leads elsewhere."""

from apps.sources.git.problems import not_a_path

MAX_PATH = 1024
# What a listing shows of one name. Longer ones do not fit on any file system, but do fit in a tree object.
MAX_NAME = 255


def parts_of(path: str) -> tuple[str, ...]:
    """The names in a path; none for the root. One / at the end is allowed. Raises InvalidInput (path_not_found).

    Nothing here reaches a file system. The rules keep clients from relying on names that git itself never makes.
    """
    if path == "":
        return ()
    parts = tuple(path.removesuffix("/").split("/"))
    if len(path) > MAX_PATH or not all(map(_is_name, parts)):
        raise not_a_path()
    return parts


def display_name(raw: bytes) -> str:
    """A name as it is shown. One that is not UTF-8 or too long is shown changed, and cannot be opened."""
    name = raw.decode("utf-8", "replace")
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"


def _is_name(name: str) -> bool:
    if name in ("", ".", "..") or name.casefold() == ".git" or "\0" in name:
        return False
    # A lone surrogate has no UTF-8, and would reach libgit2 as a raw byte.
    return not any("\ud800" <= character <= "\udfff" for character in name)
