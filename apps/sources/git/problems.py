"""What is wrong with a path, a ref or a cursor, and what to send instead."""

from typing import Any

from pygit2.enums import FileMode

from apps.sources.git.refs import HEAD, ref_not_found
from apps.sources.git.values import EntryType
from apps.web.exceptions import InvalidInput, Problem

MAX_SHOWN = 600  # characters of a path: a message has at most 1,000
NO_REPOSITORY = "list_apps tells source.repository of those that have one."

TYPES: dict[int, EntryType] = {
    int(FileMode.TREE): "directory",
    int(FileMode.LINK): "symlink",
    int(FileMode.COMMIT): "submodule",
}


def path_problem(sentence: str, type: str) -> InvalidInput:
    return InvalidInput.because("path", sentence, type)


def not_a_path() -> InvalidInput:
    return path_problem(
        "A path goes from the root, with one / between names, none of them . or .. or .git: list_files gives paths.",
        "path_not_found",
    )


def nothing_at(parents: tuple[str, ...]) -> InvalidInput:
    """`parents` name the nearest directory that is there. All of its name are words that the caller sent."""
    while len(shown := "/".join(parents)) > MAX_SHOWN:
        parents = parents[:-1]
    if not parents:
        return path_problem("There is nothing at this path: list_files without path tells what is.", "path_not_found")
    return path_problem(
        f'There is nothing at this path: list_files with path "{shown}" tells what is there.', "path_not_found"
    )


def is_directory() -> InvalidInput:
    return path_problem("This is a directory: list_files lists it.", "is_directory")


def is_submodule(type: str) -> InvalidInput:
    return path_problem("This is a submodule, another repository, which is not read: .gitmodules tells which.", type)


def not_a_directory(entry: Any) -> InvalidInput:
    match TYPES.get(entry.filemode, "file"):
        case "symlink":
            return path_problem(
                "This is a symbolic link, which is not followed: get_file tells where it leads.", "not_a_directory"
            )
        case "submodule":
            return is_submodule("not_a_directory")
    return path_problem("This is a file: get_file reads it, without a / at the end.", "not_a_directory")


def secret_file() -> InvalidInput:
    return path_problem(
        "Files of this kind hold secrets, and are not answered: list_env_vars tells names of variables.", "secret_file"
    )


def not_searched_file() -> InvalidInput:
    return path_problem(
        "To search this file for credentials takes too long, so it is not answered: read it in a clone of your own.",
        "secret_file",
    )


def too_large_file() -> InvalidInput:
    return path_problem(
        "The file has 1 MiB or more, which is too large to answer: read it in a clone of your own.", "too_large"
    )


def too_large_directory() -> InvalidInput:
    return path_problem("The directory is too large to answer: read it in a clone of your own.", "too_large")


def missing_ref(requested: str, branch: str | None, *, is_default: bool) -> InvalidInput:
    """`branch` is the application's, and `is_default` says that no other was asked for."""
    if not is_default:
        return ref_not_found(branch)
    if requested == HEAD:
        return InvalidInput.because(
            "ref", "The repository has no commits yet: ask again when it has some.", "ref_not_found"
        )
    return InvalidInput.because(
        "ref",
        f'The application\'s branch "{requested}" is not in the repository: pass another as ref, or HEAD.',
        "ref_not_found",
    )


def bad_cursor() -> InvalidInput:
    return InvalidInput.because(
        "cursor",
        "The commit that this list was reading is no longer there: leave cursor out to start again.",
        "bad_cursor",
    )


class NoRepository(InvalidInput):
    """An application that has none, or none that can be read."""


def no_repository(sentence: str) -> InvalidInput:
    return NoRepository(Problem("applicationId", f"{sentence}: {NO_REPOSITORY}", "no_repository"))
