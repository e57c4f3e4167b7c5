"""What was found in texts that are to be masked, kept: a blob is searched once, whoever reads it in whatever pieces.

Kept is where something is, never what: in memory, and beside a mirror's packs for the next process.
"""

import json
import os
import threading
from collections import OrderedDict
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from apps.sources.git import problems
from apps.sources.git.credential_kinds import DETECTOR
from apps.sources.git.credentials import TooSlow, credentials_in
from apps.sources.git.redaction import masked, private_keys_in, united
from apps.sources.git.values import Span

Spans = tuple[Span, ...]

MAX_KEPT = 1000  # blobs, in memory
MAX_SPANS = 100  # of one of them: few texts have any

# By the blob's sha, which names its content in whatever repository it is. None: it could not be searched in time.
_kept: OrderedDict[str, Spans | None] = OrderedDict()
_lock = threading.Lock()


def redacted(sha: str, text: bytes, folder: Path | None) -> tuple[bytes, int]:
    """A blob's text with every credential masked, and how many there are. `folder` keeps what is found.

    Raises InvalidInput (secret_file) where it cannot be searched in time.
    """
    spans = _spans(sha, text, folder)
    if spans is None:
        raise problems.not_searched_file()
    return masked(text, spans), len(spans)


def _spans(sha: str, text: bytes, folder: Path | None) -> Spans | None:
    with _lock:
        if sha in _kept:
            _kept.move_to_end(sha)
            return _kept[sha]
    path = folder / sha[:2] / sha if folder else None
    spans = _read(path) if path else None
    if spans is None:
        spans = search(text)
        if path and spans is not None:
            _write(path, spans)
    _remember(sha, spans)
    return spans


def search(text: bytes) -> Spans | None:
    """What is to be masked; None where that cannot be said in time."""
    try:
        return united([*private_keys_in(text), *credentials_in(text)])
    except TooSlow:
        return None


def _remember(sha: str, spans: Spans | None) -> None:
    if spans and len(spans) > MAX_SPANS:
        return
    with _lock:
        _kept[sha] = spans
        if len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)


def _read(path: Path) -> Spans | None:
    """None also for what is damaged, of another blob or another detector: then it is searched again."""
    try:
        digest, _, told = path.read_bytes().partition(b"\n")
        if digest.decode() != _digest(path, told):
            return None
        return tuple((start, end) for start, end in json.loads(told))
    except (OSError, ValueError):
        return None


def _write(path: Path, spans: Spans) -> None:
    told = json.dumps(spans).encode()
    new = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    with suppress(OSError):  # a full disk, or a generation that has gone
        path.parent.parent.mkdir(mode=0o700, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        new.write_bytes(f"{_digest(path, told)}\n".encode() + told)
        new.replace(path)


def _digest(path: Path, told: bytes) -> str:
    return sha256(f"{DETECTOR}\0{path.name}\0".encode() + told).hexdigest()
