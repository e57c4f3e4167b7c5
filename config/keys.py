"""Makes the keys that nobody needs to choose, as files in KEYS_DIR: `python -m config.keys`, before settings are read.

A key that is there, in a file or in the environment, is never changed.
"""

import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from config import files
from config.env import Env

GENERATORS: dict[str, Callable[[], str]] = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(64),
    "ENCRYPTION_KEYS": lambda: Fernet.generate_key().decode(),
}


def generate(env: Env) -> Iterator[str]:
    """Makes what is missing, and tells a sentence for each key. Raises ImproperlyConfigured."""
    for name, new_key in GENERATORS.items():
        file = env.keys_dir() / name
        if env.is_set(name):
            yield f"{name} is set in the environment."
        elif env.text(name):
            yield f"{name} is in {file}."
        elif _write(file, new_key()):
            yield f"Made {name} in {file}."
        elif env.text(name):  # somebody else made it in this moment
            yield f"{name} is in {file}."
        else:
            raise ImproperlyConfigured(f"{file} is empty: delete it, and a key is made.")


def _write(file: Path, key: str) -> bool:
    """Whether this process made the file. Whoever reads it finds the whole key. Raises ImproperlyConfigured."""
    try:
        files.close_to_others(file.parent)
        _refuse_shared(file.parent)
        return _link(file, f"{key}\n".encode())
    except OSError as error:
        raise ImproperlyConfigured(f"{file} cannot be written: {error.strerror}.") from None


def _link(file: Path, content: bytes) -> bool:
    """A name is given to a whole file, once: of two that do it at the same time, one does. Raises OSError."""
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}-") as draft:  # with the mode 0600
        draft.write(content)
        draft.flush()
        os.fsync(draft.fileno())
        try:
            os.link(draft.name, file)
        except FileExistsError:
            return False
    _sync(file.parent)
    return True


def _sync(folder: Path) -> None:
    """What will be encrypted with a key may outlive a power cut: so must the key."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _refuse_shared(folder: Path) -> None:
    status = folder.stat()
    if status.st_mode & stat.S_IWOTH:
        raise ImproperlyConfigured(f"Everybody may write to {folder}: KEYS_DIR must be a folder of Porthole's own.")
    if os.geteuid() == 0 != status.st_uid:  # root's files would be of no use to that user
        raise ImproperlyConfigured(f"{folder} belongs to another user: make keys as the user that Porthole runs as.")


def main() -> None:
    try:
        for sentence in generate(Env()):
            print(sentence)  # noqa: T201  (a command's answer)
    except ImproperlyConfigured as error:
        sys.exit(f"No key was made: {error}")


if __name__ == "__main__":
    main()
