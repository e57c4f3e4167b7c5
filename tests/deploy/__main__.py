"""make check-deploy: lints each file in deploy/ by a tool of its kind, and follows each way of the docs to an answer.

    python -m tests.deploy [lint]

Ends with 1 where something failed. What was left out is named at the end, and the whole ends with 3 then, because
nobody is to take it for checked; CHECK_DEPLOY_PARTIAL=ok makes that 0, for machines of which it is known what they
cannot do. Linting alone needs no such word.
"""

import os
import signal
import subprocess
import sys
from tempfile import NamedTemporaryFile

from tests.deploy.alone import SIGNALS, stopped
from tests.deploy.steps import LEFT_OUT

LINTERS = {"lint": "Files by linters of their kind:", "container_files": "Files of containers:"}
WAYS = {
    "host": "On one machine, as docs/running.md says:",
    "containers": "In containers, as docs/containers.md says:",
}


def run(name: str, title: str) -> bool:
    """Whether it went well."""
    print(title, flush=True)
    child = subprocess.Popen([sys.executable, "-m", f"tests.deploy.{name}"])
    try:
        return child.wait() == 0
    finally:
        child.terminate()
        child.wait()


def main() -> int:
    for number in SIGNALS:
        signal.signal(number, stopped)
    only_lint = sys.argv[1:] == ["lint"]
    with NamedTemporaryFile("r", prefix="porthole-left-out-") as file:
        os.environ[LEFT_OUT] = file.name
        scripts = LINTERS if only_lint else LINTERS | WAYS
        failed = [title for name, title in scripts.items() if not run(name, title)]
        left_out = file.read().splitlines()
    print()
    for what in left_out:
        print(f"  LEFT OUT  {what}")
    if failed:
        print(*(f"FAILED: {title}" for title in failed), sep="\n")
    if left_out:
        print(f"Not everything was checked: {len(left_out)} steps were left out.")
    elif not failed:
        print("Everything was checked.")
    is_partial = bool(left_out) and not only_lint and os.environ.get("CHECK_DEPLOY_PARTIAL") != "ok"
    return 1 if failed else 3 if is_partial else 0


if __name__ == "__main__":
    sys.exit(main())
