#!/usr/bin/env python3
"""From nothing to an answer with a token in containers, by the commands of docs/containers.md and nothing else, timed.

    python -m tests.deploy.containers

Then what the page promises: what containers may do, how they end and come back, and that what is kept can be put back.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.deploy.alone import alone
from tests.deploy.compose import NAME, PASSWORD, PATIENCE, PROJECT, Newcomer, asks, commands, token_of, trust_caddy
from tests.deploy.engine import Engine, build_images, engine
from tests.deploy.machine import ROOT
from tests.deploy.steps import Failed, leave_out, since, step, summary


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
    here = build.replace("--tag porthole", f"--tag {PROJECT} {options}")
    step(f"2. {build}", lambda: newcomer.run(here))
    step(f"3. {address}", lambda: newcomer.run(address))
    print(step(f"4. {setup}", lambda: newcomer.run(setup.replace("--rm", "--rm -T"), f"{PASSWORD}\n")))
    step(f"5. {up}", lambda: newcomer.run(up))
    return step("   (in the browser: sign in, make a token)", lambda: token_of(newcomer))


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
    backup, restore = commands("What to keep", "backup -"), commands("What to keep", "restore -")
    step(" && ".join(backup), lambda: newcomer.run(" && ".join(backup)))
    step("nobody else may read these two files", lambda: are_own(newcomer, "porthole.backup", "keys.tar"))
    step("all volumes are deleted", lambda: newcomer.compose("down --volumes"))
    for line in restore:
        step(line, lambda line=line: newcomer.run(line))
    trust_caddy(newcomer)
    step("the token of before works", lambda: asks(newcomer, token))


def are_own(newcomer: Newcomer, *names: str) -> None:
    for name in names:
        if (newcomer.cwd / name).stat().st_mode & 0o077:
            raise Failed(f"{name} can be read by others.")


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
        print(f"From nothing to 200 with a token: 5 commands, {since(start)}.\n")
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
        take_away(newcomer)


def take_away(newcomer: Newcomer) -> None:
    """From an engine that others use too."""
    if newcomer.here.ours or newcomer.cwd == newcomer.folder:  # in which there is no compose.yaml
        return
    newcomer.compose("down --volumes --remove-orphans")
    newcomer.here.run("image", "rm", "--force", PROJECT)


def main() -> int:
    alone("tests.deploy.containers", with_engine=True)
    try:
        with engine() as here, TemporaryDirectory(prefix="compose-") as folder:
            if isinstance(here, str):
                leave_out(f"the way in containers: {here}")
            else:
                follow(here, Path(folder))
    except Failed as failed:
        print(f"\nFAILED: {failed}")
        return 1
    print(f"\n{summary()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
