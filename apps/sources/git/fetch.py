"""One run of `git fetch`: the command, what it may touch, and how it ends."""

import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

BLOB_LIMIT = 1024 * 1024
MAX_PACK_BYTES = 256 * 1024 * 1024
TAIL_BYTES = 8192
# What one process of git may map, its program and libraries included, and how long it may compute.
MAX_ADDRESS_SPACE = 384 * 1024 * 1024
MAX_CPU_SECONDS = 60
SILENCE_LIMIT = 15.0  # seconds until the first byte of what was asked for
# As a proxy: TCP connects to no such address (RFC 1122 §4.2.3.10), so nothing leaves this machine.
NOWHERE = "http://255.255.255.255:9"


class FetchFailed(Exception):
    """The repository could not be fetched. The message is for the log: it quotes what the other side said."""


class RefMissing(FetchFailed):
    """The repository answered, and has no such ref."""


class AccessDenied(FetchFailed):
    """The host wants credentials, or other ones. `is_certain` says that it does not know those that it was sent."""

    def __init__(self, why: str, *, is_certain: bool = False) -> None:
        super().__init__(why)
        self.is_certain = is_certain


class Moved(FetchFailed):
    """The host says that the repository is somewhere else now."""


class Silent(FetchFailed):
    """The time ran out before anything came."""


class GitMissing(FetchFailed):
    """There is no git on PATH."""


# How git begins a line that tells which failure it is.
SAID: tuple[tuple[Callable[[str], FetchFailed], str], ...] = (
    (RefMissing, r"fatal: couldn't find remote ref "),
    (RefMissing, r"fatal: remote error: upload-pack: not our ref "),
    (RefMissing, r"error: Server does not allow request for unadvertised object "),
    (RefMissing, r"fatal: bad revision '[0-9a-f]{40}'"),  # of a large blob, which the filter leaves away
    (partial(AccessDenied, is_certain=True), r"fatal: Authentication failed for "),
    (partial(AccessDenied, is_certain=True), r"fatal: could not read Username for .*: terminal prompts disabled"),
    (partial(AccessDenied, is_certain=True), r"fatal: could not read Password for .*: terminal prompts disabled"),
    (AccessDenied, r"fatal: unable to access '[^']*': The requested URL returned error: 403"),
    (AccessDenied, r"fatal: repository '[^']*' not found"),  # 404: so hosts hide what is private
    (Moved, r"fatal: unable to access '[^']*': The requested URL returned error: 30[1278]"),
)


@dataclass(frozen=True, slots=True)
class Remote:
    """Where to fetch from. `resolve` are the addresses that were checked, as curl wants them.

    `authorization` is the value of that header, and `ca_file` has the certificates that are believed (PEM).
    Whatever clients or rows name becomes a Remote in remotes.remote_of, which only knows https.
    """

    url: str
    resolve: str | None
    protocol: str = "https"
    authorization: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    proxy: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)


def fetch_command(remote: Remote, name: str, local_ref: str, *, path: str) -> Command:
    """`git fetch` of one ref (`refs/heads/…`, `refs/tags/…`, HEAD or a full sha), without its history.

    Large blobs stay away (--filter). Only the configuration that is written here is read. `path` is PATH.
    """
    git = (
        "git", "fetch", "--quiet", "--depth=1", f"--filter=blob:limit={BLOB_LIMIT}", "--no-tags",
        "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance",
        "--end-of-options", remote.url, f"+{name}:{local_ref}",
    )  # fmt: skip
    return _limited(git, remote, path)


def ls_remote_command(remote: Remote, *, path: str) -> Command:
    """`git ls-remote` of HEAD: whether the repository can be read."""
    return _limited(("git", "ls-remote", "--quiet", "--end-of-options", remote.url, "HEAD"), remote, path)


def _limited(git: tuple[str, ...], remote: Remote, path: str) -> Command:
    # A shell only for `ulimit`, which caps every file that git writes (POSIX counts it in 512 bytes), its memory (in
    # KiB) and its time: what it fetches may be small and yet grow without end when it is unpacked.
    # (preexec_fn is not safe in a process with threads, and prlimit(1) is not on every system.)
    limits = f"ulimit -f {MAX_PACK_BYTES // 512} && ulimit -v {MAX_ADDRESS_SPACE // 1024}"
    limits += f" && ulimit -t {MAX_CPU_SECONDS}"
    return Command(("sh", "-c", f'{limits} && exec "$@"', "sh", *git), _environment(remote, path))


def run(command: Command, folder: Path, *, seconds: float, lock: int | None = None) -> None:
    """Run a fetch in the bare repository at `folder`. Raises RefMissing, Silent, GitMissing, FetchFailed.

    After `seconds`, or SILENCE_LIMIT if nothing has come by then, it is killed with everything it started.
    Half-written files are left to `remove_leftovers`. `lock` is an open file that git holds as long as it runs.
    """
    if shutil.which("git", path=command.env["PATH"]) is None:
        raise GitMissing("There is no git on PATH.")
    started = time.monotonic()

    def time_left() -> float:
        left = started + min(SILENCE_LIMIT, seconds) - time.monotonic()
        return left if left > 0 or not has_begun(folder) else started + seconds - time.monotonic()

    process = subprocess.Popen(
        command.argv,
        env=dict(command.env),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=() if lock is None else (lock,),
    )
    try:
        assert process.stderr is not None  # noqa: S101  (for the type checker)
        stderr = _tail(process.stderr, time_left)
        status = process.wait(max(0.1, time_left()))
    except (TimeoutError, subprocess.TimeoutExpired):
        failure = FetchFailed if has_begun(folder) else Silent
        raise failure(f"It took longer than {time.monotonic() - started:.1f} s.") from None
    finally:
        _end(process)
    if status != 0:
        raise _failure(stderr, status)


def has_begun(folder: Path) -> bool:
    """Whether a pack is arriving: what git writes before it knows the pack's name."""
    return any(folder.glob("objects/pack/tmp_pack_*"))


def remove_leftovers(folder: Path) -> None:
    """What a killed fetch leaves in a repository. Only for whoever holds the mirror's lock: no other git runs there."""
    for pattern in ("objects/tmp_*", "objects/*/tmp_*", "shallow_*", "*.lock", "refs/**/*.lock"):
        for leftover in folder.glob(pattern):
            if leftover.is_file():
                leftover.unlink(missing_ok=True)


def _environment(remote: Remote, path: str) -> dict[str, str]:
    """The whole environment of git: nothing is inherited, so no proxy, no askpass, no configuration, no trace file."""
    settings = {
        "protocol.allow": "never",
        f"protocol.{remote.protocol}.allow": "always",
        # Also what keeps a server from sending us elsewhere for objects ("alternates").
        "http.followRedirects": "false",
        # And this from fetching packs elsewhere ("packfile-uris", which git also follows where it did not offer to).
        "http.proxy": NOWHERE,
        "http.lowSpeedLimit": "1000",
        "http.lowSpeedTime": "30",
        "credential.helper": "",
        "core.askPass": "",
        "core.hooksPath": os.devnull,
        "core.bigFileThreshold": str(2 * BLOB_LIMIT),
        # So that a large repository fits under MAX_ADDRESS_SPACE: threads have stacks and heaps of their own.
        "core.packedGitWindowSize": "16m",
        "core.packedGitLimit": "64m",
        "core.deltaBaseCacheLimit": "32m",
        "pack.threads": "1",
        "fetch.recurseSubmodules": "false",
        # One pack for each fetch: countable, and never thousands of loose files.
        "fetch.unpackLimit": "1",
        "fetch.writeCommitGraph": "false",
        # Commits of earlier fetches stay: clients still hold their shas.
        "gc.auto": "0",
        "maintenance.auto": "false",
    }
    settings |= _of_remote(remote)
    # In the environment and not in argv, because every user of the machine can read argv.
    env = {"GIT_CONFIG_COUNT": str(len(settings))}
    for index, (key, value) in enumerate(settings.items()):
        env |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return env | {
        "PATH": path,
        # Not a folder, so nothing can be in it: no .netrc, no .gitconfig.
        "HOME": os.devnull,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "MALLOC_ARENA_MAX": "1",
        "GIT_DIR": ".",
    }


def _of_remote(remote: Remote) -> dict[str, str]:
    """What git is told of one remote. Only its own host and port is connected to, and sent credentials."""
    parts = urlsplit(remote.url)
    place = f"http.{parts.scheme}://{parts.netloc}/"
    found = {
        "http.curloptResolve": remote.resolve,
        "http.sslCAInfo": remote.ca_file,
        f"{place}.extraHeader": remote.authorization and f"Authorization: {remote.authorization}",
    }
    return {key: value for key, value in found.items() if value} | {f"{place}.proxy": remote.proxy or ""}


def _tail(stream: IO[bytes], time_left: Callable[[], float]) -> str:
    """The end of what it says, until it says no more. Raises TimeoutError. The rest is dropped: it may be endless."""
    tail = b""
    with stream, selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            left = time_left()
            if left <= 0:
                raise TimeoutError
            if not selector.select(left):
                continue
            chunk = os.read(stream.fileno(), 65536)
            if not chunk:
                return tail.decode("utf-8", "replace")
            tail = (tail + chunk)[-TAIL_BYTES:]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole group, unless it is over: git's helpers must not outlive it."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _failure(stderr: str, status: int) -> FetchFailed:
    # What the other side says comes as "remote: …" lines, so only git itself can start a line like this.
    lines = [line for line in stderr.splitlines() if not line.startswith("remote:")]
    summary = f"git ended with {status}: {' | '.join(lines)[-300:]}"
    for failure, begin in SAID:
        if any(re.match(begin, line) for line in lines):
            return failure(summary)
    return FetchFailed(summary)
