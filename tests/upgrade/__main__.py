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

import yaml

from apps.web.characters import prose

# The last commit before facts had one owner each.
RELEASE = "1ca8c5b571998a4b77b214f3c39a8255c98b0fa1"
# What answers tell since then, besides what they told.
ADDED = {
    "applicationId", "applicationName", "author", "checkedAt", "commitSha", "committedAt", "dashboardUrl",
    "environmentId", "errorMessage", "fetchedAt", "health", "healthReason", "isPreview", "isUnchanged", "nextLine",
    "projectId", "redactionCount", "startLine", "title", "totalLines", "version",
}  # fmt: skip
AGE = re.compile("(?m)^(?:asOf|staleAfter): .*\n")  # the same of what is exported
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
    pairs = [(opened(old), opened(new)) for old, new in zip_longest(before, after, fillvalue={})]
    different = [(old, new) for old, new in pairs if json.dumps(old) != json.dumps(as_before(old, new))]
    different = [(old, new) for old, new in different if not is_tried(old, new)]
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
        f"{same} answers tell what they told, in its order ({cursors} asked with a cursor of before, {refused} "
        f"refused); {len(expected)} tell that an old check is old."
    )


def opened(call: dict[str, Any]) -> dict[str, Any]:
    """With JSON read, and JSON within JSON; and without when the docs were read, as they are read again."""
    body = call.get("body", "")
    if "export" in call:
        return call | {"body": json.loads(json.dumps(yaml.safe_load(AGE.sub("", body)), default=str))}
    answer = json.loads(body) if body else {}
    told = answer["result"] if isinstance(answer, dict) and "result" in answer else {}
    if told.get("isError"):  # its sentences are no part of what must stay
        answer["result"] = {"isError": True}
    if "content" in told:  # hits link to resources now
        told["content"] = [block for block in told["content"] if block["type"] != "resource_link"]
    for block in told.get("content", []):
        if block.get("text", "").startswith("{"):
            block["text"] = json.loads(block["text"])
    if "_doc" in json.dumps([call.get("path"), call.get("sent")]):
        texts = [block.get("text") for block in told.get("content", [])]
        for part in (answer, told.get("structuredContent"), *texts):
            if isinstance(part, dict):
                part.pop("syncedAt", None)
                if "items" in part:  # which pages, and in which order, is what the search is better at now
                    part["items"] = bool(part["items"])
    return call | {"body": answer}


def as_before(old: Any, new: Any) -> Any:
    """The new answer without what the old one did not tell yet."""
    if isinstance(old, dict) and isinstance(new, dict):
        told = {key: as_before(old.get(key), value) for key, value in new.items() if key in old or key not in ADDED}
        # A position is signed otherwise by now. Deployments of previews are no longer in an environment.
        moved = [key for key in ("nextCursor",) if old.get(key) and told.get(key)]
        moved += ["environmentId"] if new.get("isPreview") and told.get("environmentId", "") is None else []
        moved += ["reasons"] if are_the_same(old.get("reasons"), told.get("reasons")) else []
        moved += ["connections"] if are_of_them(old.get("connections"), told.get("connections")) else []
        return told | {key: old[key] for key in moved}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [as_before(*pair) for pair in zip(old, new, strict=True)]
    # What nobody sees is gone from prose.
    is_cleaned = isinstance(old, str) and new in (prose(old, lines=True), prose(old, lines=False))
    return old if is_cleaned else new


def are_the_same(old: Any, new: Any) -> bool:
    """Reasons: now those that weigh most come first, and the last one falls away where there are more than 20."""
    if not (isinstance(old, list) and isinstance(new, list) and len(old) == len(new)):
        return False
    return len(set(old) - set(new)) <= (len(old) == 20)


def are_of_them(old: Any, new: Any) -> bool:
    """Connections: now those that Porthole itself can use, and one of these is the default."""
    if not (isinstance(old, list) and isinstance(new, list)):
        return False
    before = [connection | {"isDefault": None} for connection in old]
    return all(connection | {"isDefault": None} in before for connection in new)


def is_tried(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """A repository whose platform lacks credentials was refused at once; now its host is asked, which is not there."""
    was_refused = old.get("status") == 422 and "no_repository" in json.dumps(old["body"])
    return was_refused and new.get("status") == 503 and old["path"].endswith(("/list_files", "/get_file"))


def is_mended(old: dict[str, Any], new: dict[str, Any], mended: str) -> bool:
    """Whether nothing changed but that the check of one application, which no platform told, is found too old."""
    asked = json.dumps([old.get("path"), old.get("sent")])
    if "get_app_health" not in asked or mended not in asked or any(old[k] != new[k] for k in ("path", "status")):
        return False
    was, now = health_of(old["body"]), as_before(health_of(old["body"]), health_of(new["body"]))
    if (was["health"], was["edge"]["isStale"], now["health"], now["edge"]["isStale"]) != (
        "healthy", False, "unknown", True,
    ):  # fmt: skip
        return False
    for health in (was, now):
        health["edge"] = health["edge"] | {"isStale": None}
        health |= {"health": None, "reasons": None}
    return was == now


def health_of(answer: dict[str, Any]) -> dict[str, Any]:
    health: dict[str, Any] = answer["result"]["structuredContent"] if "result" in answer else answer
    return dict(health)


if __name__ == "__main__":
    main()
