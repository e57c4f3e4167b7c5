"""The files of containers, by a linter of their kind: `python -m tests.deploy.container_files`.

A linter that is not there is named, with what it would have looked at. bin/deploy-tools installs those that are Python
packages.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.deploy.steps import leave_out

ROOT = Path(__file__).resolve().parents[2]
PATH = f"{ROOT / 'build/deploy/linters/bin'}:{os.environ['PATH']}"
DOCKERFILES = ["Dockerfile", *sorted(str(file) for file in (ROOT / "tests/deploy/images").glob("*.Dockerfile"))]
OVERLAY = ROOT / "deploy/kubernetes/example"
ENVIRONMENT = os.environ | {"PATH": PATH, "PUBLIC_URL": "https://porthole.example.com"}


def run(*words: str | Path, text: str | None = None) -> tuple[str, str]:
    """What a program answers, and what it finds wrong."""
    done = subprocess.run(
        words, cwd=ROOT, env=ENVIRONMENT, input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout, "" if done.returncode == 0 else f"{done.stdout}{done.stderr}".strip() or "it failed"


def hadolint() -> str:
    # Debian's packages are of one release: pinned ones are gone from its mirrors with their next correction.
    return (
        run("hadolint", "Dockerfile")[1] or run("hadolint", "--ignore=DL3008", "--ignore=DL3006", *DOCKERFILES[1:])[1]
    )


def docker() -> str:
    """By the plugin, or where there is none by the program that came before it."""
    words = ["docker", "compose"] if not run("docker", "compose", "version")[1] else ["docker-compose"]
    if not shutil.which(words[-1], path=PATH) and len(words) == 1:
        leave_out("compose.yaml as Compose reads it: neither its plugin nor docker-compose is installed")
        return ""
    return run(*words, "--file", "compose.yaml", "config", "--quiet")[1]


def compose_lint() -> str:
    return run("compose-lint", "compose.yaml")[1]


def kubectl() -> str:
    """The base alone and the overlay, against the schemas of Kubernetes, with no word that they do not know."""
    base, wrong = run("kubectl", "kustomize", ROOT / "deploy/kubernetes/base")
    overlay, wrong_too = run("kubectl", "kustomize", OVERLAY)
    if wrong or wrong_too:
        return wrong or wrong_too
    if not shutil.which("kubernetes-validate", path=PATH):
        leave_out("schemas of Kubernetes: kubernetes-validate is not installed")
        return ""
    return "".join(run("kubernetes-validate", "--strict", "-", text=text)[1] for text in (base, overlay))


LINTERS: dict[str, Callable[[], str]] = {
    "hadolint": hadolint, "compose-lint": compose_lint, "docker": docker, "kubectl": kubectl,
}  # fmt: skip


def findings() -> Iterator[str]:
    for program, lint in LINTERS.items():
        if not shutil.which(program, path=PATH):
            leave_out(f"{lint.__name__}: {program} is not installed")
            continue
        said = lint()
        print(f"  {'ok' if not said else 'no'}            {program}", flush=True)
        if said:
            yield f"{program}:\n{said}"


if __name__ == "__main__":
    problems = list(findings())
    sys.exit("\n".join(problems) or 0)
