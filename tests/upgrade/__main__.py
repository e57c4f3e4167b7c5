"""Makes a database with an earlier release, upgrades it, and compares what both answer, byte for byte.

    python -m tests.upgrade

The database is the one that DATABASE_URL names, which must be empty; SQLite without it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

# The last commit before facts had one owner each.
RELEASE = "1ca8c5b571998a4b77b214f3c39a8255c98b0fa1"
# What answers tell since then, besides what they told: `"redactionCount":0,`, in JSON and in JSON within JSON.
ADDED = re.compile(r'\\*"redactionCount\\*":[0-9]+,|\\*"dashboardUrl\\*":null,|,\\*"dashboardUrl\\*":null(?=})')
SYNCED_AT = re.compile(r'\\*"syncedAt\\*":\\*"[0-9T:.Z-]+\\*"')
HERE, NEW = Path(__file__).resolve().parent, Path(__file__).resolve().parents[2]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="porthole-upgrade-") as name:
        folder = Path(name)
        people, before, after = (folder / file for file in ("people.json", "before.json", "after.json"))
        with worktree(folder / "release") as old:
            run(old, folder, HERE / "clock.py", HERE / "make.py", people)
            run(old, folder, HERE / "clock.py", HERE / "ask.py", before, people, git("rev-parse", RELEASE))
            run(NEW, folder, NEW / "manage.py", "migrate", "--verbosity", "0")
            run(NEW, folder, HERE / "clock.py", HERE / "ask.py", after, "--again", before)
            same = compare(*(json.loads(file.read_text()) for file in (before, after, people)))
            run(NEW, folder, HERE / "clock.py", HERE / "visit.py", people)
    sys.stdout.write(f"{same} Sessions, second factors, tokens and the invitation work.\n")


@contextmanager
def worktree(path: Path) -> Iterator[Path]:
    git("worktree", "add", "--detach", str(path), RELEASE)
    try:
        yield path
    finally:
        git("worktree", "remove", "--force", str(path))


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=NEW, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"git {arguments[0]}: {done.stderr.strip()} (The whole history is needed, not a shallow clone.)")
    return done.stdout.strip()


def run(tree: Path, folder: Path, *command: Path | str) -> None:
    """Runs a script with the code in `tree`. Both read the same docs: the words of today's would be found elsewhere."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(tree),
        "PORTHOLE_ENV": "local",
        "DATA_DIR": str(folder / "data"),
        "DOCS_DIRS": str(folder / "release" / "docs"),
        "RATE_LIMITS": "off",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if url := os.environ.get("DATABASE_URL"):
        environment["DATABASE_URL"] = url
    with (folder / "log").open("w+") as log:
        done = subprocess.run([sys.executable, *command], cwd=tree, env=environment, stderr=log, check=False)
        if done.returncode:
            log.seek(0)
            sys.exit(f"{Path(command[1]).name} failed:\n{log.read()[-4000:]}")


def compare(before: list[dict[str, Any]], after: list[dict[str, Any]], people: dict[str, Any]) -> str:
    """What is the same, in a sentence; ends the program where anything is not that has to be."""
    before, after = list(map(comparable, before)), list(map(comparable, after))
    different = [(old, new) for old, new in zip_longest(before, after) if old != new]
    expected = [(old, new) for old, new in different if old and new and is_mended(old, new, people["mended"])]
    for old, new in different:
        if (old, new) not in expected:
            sys.exit(f"The answer is another:\n{json.dumps(old, indent=1)}\n{json.dumps(new, indent=1)}")
    if not expected:
        sys.exit("A check of 400 days ago that nobody repeats still counts as fresh.")
    cursors = sum("cursor" in json.dumps(call.get("sent")) for call in before)
    refused = sum(call.get("status", 200) != 200 for call in before)
    if not (cursors and refused):
        sys.exit("Nothing was asked with a cursor, or nothing was refused.")
    same = len(before) - len(expected)
    return (
        f"{same} answers are the same, byte for byte ({cursors} asked with a cursor of before, {refused} refused); "
        f"{len(expected)} tell that an old check is old."
    )


def comparable(call: dict[str, Any]) -> dict[str, Any]:
    """Without what an upgrade may change: fields that are new, and when the docs were read, as they are read again."""
    body = ADDED.sub("", call["body"])
    if "_doc" in json.dumps([call.get("path"), call.get("sent")]):
        body = SYNCED_AT.sub("", body)
    return call | {"body": body}


def is_mended(old: dict[str, Any], new: dict[str, Any], mended: str) -> bool:
    """Whether nothing changed but that the check of one application, which no platform told, is found too old."""
    if mended not in json.dumps(old.get("sent")) or old["path"] != new["path"] or old["status"] != new["status"]:
        return False
    was, now = (health_of(json.loads(answer["body"])) for answer in (old, new))
    if (was["health"], was["edge"]["isStale"], now["health"], now["edge"]["isStale"]) != (
        "healthy", False, "unknown", True,
    ):  # fmt: skip
        return False
    for health in (was, now):
        del health["health"], health["reasons"], health["edge"]["isStale"]
    return was == now


def health_of(answer: dict[str, Any]) -> dict[str, Any]:
    health: dict[str, Any] = answer["result"]["structuredContent"] if "result" in answer else answer
    return health


if __name__ == "__main__":
    main()
