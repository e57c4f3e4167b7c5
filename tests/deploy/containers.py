#!/usr/bin/env python3
"""From nothing to an answer with a token in containers, by the commands of docs/containers.md and nothing else, timed.

    python -m tests.deploy.containers

Then what the page promises: what containers may do, how they end and come back, and that what is kept can be put back.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.deploy.engine import Engine, build_images, engine
from tests.deploy.machine import ROOT, Failed, alone

PAGE = ROOT / "docs/containers.md"
NAME = "porthole.example.com"
EMAIL, PASSWORD = "you@example.com", "correct horse battery staple"
ADDRESS = "127.0.0.1:8333"
CA = "/data/caddy/pki/authorities/local/root.crt"
PATIENCE = 90  # seconds

done: list[str] = []
left_out: list[str] = []


def step(what: str, act: Callable[[], str]) -> str:
    start = time.monotonic()
    said = act()
    done.append(what)
    print(f"  ok {time.monotonic() - start:6.1f} s  {what}", flush=True)
    return said


def leave_out(what: str) -> None:
    left_out.append(what)
    print(f"  --  LEFT OUT  {what}", flush=True)


def commands(heading: str, first: str = "") -> list[str]:
    """Those of a section of the page: of its first block, or of the one that begins with `first`."""
    section = PAGE.read_text().partition(f" {heading}\n")[2]
    blocks = re.findall(r"^ *```(?:console|sh)\n(.*?)^ *```", section, re.DOTALL | re.MULTILINE)
    block = next(block for block in blocks if first in block)
    return [line.strip().removeprefix("$ ") for line in block.splitlines() if line.strip()]


class Newcomer:
    """Types the page's commands into a shell, in a folder of their own, on a machine that has `engine`."""

    def __init__(self, folder: Path, here: Engine, settings: dict[str, str]) -> None:
        self.here, self.folder, self.cwd = here, folder, folder
        project = {"COMPOSE_PROJECT_NAME": "porthole-check", "PORTHOLE_IMAGE": "porthole-check"}
        own = {"HTTPS_PORT": ADDRESS, "HTTP_PORT": "127.0.0.1:8334", "PORTHOLE_TLS": "tls internal"}
        self.environment = os.environ | here.environment | project | own | settings

    def run(self, line: str, text: str = "") -> str:
        line = re.sub(r"\bdocker compose\b", shlex.join(self.here.compose), line)
        line = re.sub(r"\bdocker (?=build)", f"{shlex.join(self.here.docker)} ", line)
        finished = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"{line}\nstatus=$?; pwd >{self.folder}/cwd; exit $status"], cwd=self.cwd,
            env=self.environment, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        self.cwd = Path((self.folder / "cwd").read_text().strip())
        if finished.returncode:
            raise Failed(f"{line}\n{finished.stdout[-6000:]}\n{self.logs()}")
        return finished.stdout

    def compose(self, line: str, text: str = "") -> str:
        return self.run(f"docker compose {line}", text)

    def logs(self) -> str:
        words = [*self.here.compose, "logs", "--tail=30"]
        said = subprocess.run(words, cwd=self.cwd, env=self.environment, capture_output=True, text=True, check=False)
        return said.stdout

    def id(self, service: str) -> str:
        return self.compose(f"ps -q {service}").strip()

    def inspect(self, service: str, template: str) -> str:
        return self.here.run("inspect", "--format", template, self.id(service))

    def is_on(self, service: str, state: str, seconds: float = PATIENCE) -> str:
        """Waits until the health or the status of a container is so."""
        deadline = time.monotonic() + seconds
        while self.inspect(service, f"{{{{.State.{state.partition('=')[0]}}}}}") != state.partition("=")[2]:
            if time.monotonic() > deadline:
                raise Failed(f"{service} is not {state}:\n{self.inspect(service, '{{json .State}}')}\n{self.logs()}")
            time.sleep(0.5)
        return ""


def secrets_of_this_machine(folder: Path) -> None:
    """How pip finds packages here, for the build: pip.conf without this machine's folders, and whose word it takes."""
    said = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    found = dict(re.findall(r"^[\w:.]*\.([\w-]+)='(.*)'$", said.stdout, re.MULTILINE))
    passed_on = [f"{name} = {found[name]}" for name in ("index-url", "trusted-host", "proxy") if name in found]
    (folder / "pip.conf").write_text("\n".join(["[global]", *passed_on, ""]))
    authorities = found.get("cert") or "/etc/ssl/certs/ca-certificates.crt"
    (folder / "ca.pem").write_bytes(Path(authorities).read_bytes() if Path(authorities).exists() else b"")


def the_way(newcomer: Newcomer) -> str:
    """The page's commands, and between them the build where packages come from elsewhere. The token."""
    clone, address, setup, up = commands("With Compose")
    (build,) = commands("With Compose", "docker build")
    source = newcomer.folder / "porthole.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", ROOT, source], check=True)
    step(f"1. {clone}", lambda: newcomer.run(re.sub(r"https://\S+\.git", str(source), clone)))
    secrets_of_this_machine(newcomer.cwd)
    options = " ".join(
        [*newcomer.here.build_options, "--build-arg BASE_IMAGE" * ("BASE_IMAGE" in newcomer.environment)]
    )
    here = build.replace("--tag porthole", f"--tag porthole-check {options}")
    step(f"2. {build}", lambda: newcomer.run(here))
    step(f"3. {address}", lambda: newcomer.run(address))
    print(step(f"4. {setup}", lambda: newcomer.run(setup.replace("--rm", "--rm -T"), f"{PASSWORD}\n")))
    step(f"5. {up}", lambda: newcomer.run(up))
    return step("   (in the browser: sign in, let a program look)", lambda: token_of(newcomer))


def token_of(newcomer: Newcomer) -> str:
    trust_caddy(newcomer)
    words = [sys.executable, str(ROOT / "tests/deploy/newcomer.py"), f"https://{NAME}", EMAIL]
    words += ["--connect-to", ADDRESS, "--ca", str(newcomer.folder / "root.crt")]
    got = subprocess.run(words, input=f"{PASSWORD}\n", text=True, capture_output=True, check=False)
    if got.returncode:
        raise Failed(f"No token: {got.stdout}{got.stderr}\n{newcomer.logs()}")
    return got.stdout.strip()


def trust_caddy(newcomer: Newcomer) -> None:
    """Its own authority is made at its first start, a moment after it runs."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            newcomer.here.run("cp", f"{newcomer.id('caddy')}:{CA}", str(newcomer.folder / "root.crt"))
            return
        except Failed:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def asks(newcomer: Newcomer, token: str) -> str:
    """A 200 for a tool, over https, from a certificate that is verified."""
    answer = newcomer.run(
        f"curl -sS --fail-with-body --cacert {newcomer.folder}/root.crt --connect-to {NAME}:443:{ADDRESS}"
        f" -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d '{{}}'"
        f" https://{NAME}/api/v1/tools/get_account -w '\\n%{{http_code}}\\n'"
    )
    body, _, status = answer.strip().rpartition("\n")
    if status != "200" or json.loads(body)["organization"]["slug"] != "acme":
        raise Failed(answer)
    return answer


def is_confined(newcomer: Newcomer) -> str:
    """What a process may do is what the kernel says of it, not what we asked for."""
    for service in ("web", "worker", "database", "caddy"):
        said = newcomer.compose(f"exec -T {service} cat /proc/1/status")
        status = dict(re.findall(r"^(\w+):\s+(.*)$", said, re.MULTILINE))
        expected = {"caddy": ("0", 1 << 10)}.get(service, (None, 0))  # CAP_NET_BIND_SERVICE
        uid = status["Uid"].split()[0]
        is_right = status["NoNewPrivs"] == "1" and int(status["CapBnd"], 16) == expected[1] and status["Seccomp"] == "2"
        if not is_right or (uid == "0") != (expected[0] == "0"):
            raise Failed(f"{service}:\n{said}")
        mounts = newcomer.compose(f"exec -T {service} cat /proc/1/mounts")
        if not re.search(r"^overlay / overlay ro,", mounts, re.MULTILINE):
            raise Failed(f"{service} may write to its file system:\n{mounts}")
    return ""


def only_caddy_is_reached(newcomer: Newcomer) -> str:
    ports = "{{range $port, $to := .NetworkSettings.Ports}}{{range $to}}{{.HostPort}}{{end}}{{end}}"
    for service in ("web", "worker", "database"):
        if found := newcomer.inspect(service, ports):
            raise Failed(f"{service} has ports: {found}")
    networks = "{{range $name, $net := .NetworkSettings.Networks}}{{$name}}{{end}}"
    if newcomer.inspect("database", networks) != "none":
        raise Failed("The database is on a network.")
    return ""


def image_holds_nothing_else(newcomer: Newcomer) -> str:
    """Neither what the build was lent, nor what builds, nor this checkout's other files."""
    left = newcomer.compose(
        "run --rm -T --no-deps --entrypoint sh worker -c 'command -v gcc cc pip pip3; ls -d /etc/pip.conf /run/ca.pem"
        " tests .git .env bin pip.conf ca.pem; find . -not -user root; true'"
    )
    if found := [line for line in left.splitlines() if line.startswith(("/", ".", "tests", "bin", "pip", "ca."))]:
        raise Failed(f"The image has {found}")
    return ""


def returns_after_the_database(newcomer: Newcomer) -> None:
    def turns(what: str, health: str) -> str:
        newcomer.compose(f"{what} database")
        return newcomer.is_on("web", f"Health.Status={health}")

    step("the database stops: web turns unhealthy", lambda: turns("stop", "unhealthy"))
    step("and healthy again with it", lambda: turns("start", "healthy"))


def is_started_again(newcomer: Newcomer, token: str) -> str:
    before = newcomer.inspect("web", "{{.State.StartedAt}}")
    os.kill(int(newcomer.inspect("web", "{{.State.Pid}}")), 9)
    deadline = time.monotonic() + PATIENCE
    while newcomer.inspect("web", "{{.State.StartedAt}}") == before and time.monotonic() < deadline:
        time.sleep(0.2)
    newcomer.is_on("web", "Health.Status=healthy")
    return asks(newcomer, token)


def ends_in_order(newcomer: Newcomer, service: str) -> str:
    """By itself: one that the engine has to kill, after its grace, ends with 137."""
    container = newcomer.id(service)
    newcomer.compose(f"stop {service}")
    if (code := newcomer.here.run("inspect", "--format", "{{.State.ExitCode}}", container)) != "0":
        raise Failed(f"{service} ended with {code}\n{newcomer.logs()}")
    return ""


def again(newcomer: Newcomer, token: str) -> None:
    _, _, setup, up = commands("With Compose")
    said = step("setup once more changes nothing", lambda: newcomer.run(setup.replace("--rm", "--rm -T")))
    if re.search(r"\b[Mm]ade\b|to apply|now owner", said):
        raise Failed(said)
    step("up once more", lambda: newcomer.run(up))
    step("the token still works", lambda: asks(newcomer, token))


def what_is_kept_can_be_put_back(newcomer: Newcomer, token: str) -> None:
    """Into empty volumes, by the page's commands: people, keys and tokens are there again."""
    for line in commands("What to keep", "pg_dump"):
        step(line, lambda line=line: newcomer.run(line))
    step("all volumes are deleted", lambda: newcomer.compose("down --volumes"))
    for line in commands("What to keep", "pg_restore"):
        step(line, lambda line=line: newcomer.run(line))
    trust_caddy(newcomer)
    step("the token of before works", lambda: asks(newcomer, token))


def follow(here: Engine, folder: Path) -> None:
    settings = {}
    if here.ours:
        settings = json.loads(step("images in place of official ones", lambda: json.dumps(build_images(here))))
        leave_out(
            "the official images of Python, PostgreSQL and Caddy: none is pulled, Debian's packages stand for them"
        )
    if here.compose[-1] != "compose":
        leave_out(f"docker compose: it is not there, {here.compose[0]} reads the same file")
    leave_out("Kubernetes: there is no cluster; its files are only checked")
    newcomer, start = Newcomer(folder, here, settings), time.monotonic()
    try:
        token = the_way(newcomer)
        print(step(f"   curl https://{NAME}/api/v1/tools/get_account", lambda: asks(newcomer, token)))
        print(f"From nothing to 200 with a token: {time.monotonic() - start:.0f} s, 5 commands.\n")
        step("every process is confined, its file system read-only", lambda: is_confined(newcomer))
        step("only Caddy is reached", lambda: only_caddy_is_reached(newcomer))
        step("the image holds nothing that it should not", lambda: image_holds_nothing_else(newcomer))
        again(newcomer, token)
        returns_after_the_database(newcomer)
        step("web is killed, and started again", lambda: is_started_again(newcomer, token))
        for service in ("caddy", "web", "worker", "database"):
            step(
                f"{service} ends by itself when it is told to",
                lambda service=service: ends_in_order(newcomer, service),
            )
        step("and starts again", lambda: newcomer.run(commands("With Compose")[-1]))
        what_is_kept_can_be_put_back(newcomer, token)
    finally:
        newcomer.compose("down --volumes --remove-orphans")


def main() -> int:
    if os.geteuid() == 0:
        alone("tests.deploy.containers")
    try:
        with engine() as here, TemporaryDirectory(prefix="porthole-containers-") as folder:
            if isinstance(here, str):
                leave_out(f"the way in containers: {here}")
            else:
                follow(here, Path(folder))
    except Failed as failed:
        print(f"\nFAILED: {failed}")
        return 1
    print(f"\n{len(done)} steps done, {len(left_out)} left out:")
    for what in left_out:
        print(f"  LEFT OUT  {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
