"""A container engine: the one that this machine has, or Debian's, started for as long as it is used."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

from tests.deploy.alone import cgroup
from tests.deploy.machine import BASE, ROOT, make_base
from tests.deploy.steps import Failed

IMAGES = ROOT / "tests/deploy/images"
# It touches neither this machine's firewall nor its routes, makes no bridge before somebody asks for a network, and its
# cgroups are in one that can be taken away.
ALONE = (
    "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--bridge=none",
    "--exec-opt=native.cgroupdriver=cgroupfs",
)  # fmt: skip
PATIENCE = 60  # seconds


@dataclass
class Engine:
    """`docker` and `compose` are how a command begins. One that is `ours` pulls nothing."""

    docker: list[str]
    compose: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    build_options: list[str] = field(default_factory=list)
    ours: bool = False

    def run(self, *words: str, cwd: Path | None = None, text: str | None = None) -> str:
        """What `docker` says. Raises Failed."""
        done = subprocess.run(
            [*self.docker, *words], env=os.environ | self.environment, cwd=cwd, input=text,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise Failed(f"docker {' '.join(words)}\n{done.stdout[-6000:]}")
        return done.stdout.strip()


@contextmanager
def engine() -> Iterator[Engine | str]:
    """Or why there is none."""
    docker = shutil.which("docker") or "docker"
    if _answers([docker, "info"]):
        yield Engine([docker], _compose(docker))
    elif why := _missing():
        yield why
    else:
        yield from _of_our_own(Path(mkdtemp(prefix="engine-")))


def _missing() -> str:
    """What is missing for an engine of our own. bin/deploy-tools installs it where that starts nothing."""
    if os.geteuid() != 0:
        return "no container engine answers, and only root can start one"
    if not (shutil.which("dockerd") and shutil.which("docker-compose")):
        return "no container engine answers, and Debian's packages docker.io and docker-compose are not here"
    return make_base()


def _of_our_own(folder: Path) -> Iterator[Engine | str]:
    """Neither its containers nor its files are taken away here: all end with this process (alone.py)."""
    socket = f"unix://{folder}/docker.sock"
    # Debian's own docker comes with its engine; another one on the PATH may build only with a plugin that is not there.
    docker = "/usr/bin/docker" if Path("/usr/bin/docker").exists() else "docker"
    ours = Engine([docker], _compose(docker), {"DOCKER_HOST": socket, "DOCKER_BUILDKIT": "1"}, ["--network=host"], True)
    words = ["dockerd", f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/pid"]
    words += [f"--cgroup-parent=/{cgroup()}", f"--host={socket}", *ALONE]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        try:
            if why := _started(ours, process, folder / "log"):
                yield why
            else:
                yield ours
        finally:
            process.kill()


def _started(ours: Engine, process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if _answers([*ours.docker, "info"], ours.environment):
            return ""
        time.sleep(0.3)
    said = re.findall(r'msg="?(.*?)"?$|^(failed .*)$', log.read_text(), re.MULTILINE)
    return f"dockerd does not start here: {' '.join(said[-1]).strip() if said else 'it says nothing'}"


def _compose(docker: str) -> list[str]:
    return [docker, "compose"] if _answers([docker, "compose", "version"]) else ["docker-compose"]


def _answers(words: list[str], environment: dict[str, str] | None = None) -> bool:
    try:
        return not subprocess.run(
            words, env=os.environ | (environment or {}), stdin=subprocess.DEVNULL, capture_output=True, check=False
        ).returncode
    except OSError:
        return False


def build_images(ours: Engine) -> dict[str, str]:
    """Images in place of the official ones, from Debian's packages; what compose.yaml's variables are to be."""
    with subprocess.Popen(["tar", "-C", BASE, "-c", "."], stdout=subprocess.PIPE) as tar:
        subprocess.run(
            [*ours.docker, "import", "-", "porthole-check-debian"],
            env=os.environ | ours.environment, stdin=tar.stdout, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    for name in ("python", "postgres", "caddy"):
        file = IMAGES / f"{name}.Dockerfile"
        ours.run("build", *ours.build_options, "--tag", f"porthole-check-{name}", "--file", str(file), str(IMAGES))
    return {
        "BASE_IMAGE": "porthole-check-python",
        "POSTGRES_IMAGE": "porthole-check-postgres",
        "CADDY_IMAGE": "porthole-check-caddy",
    }
