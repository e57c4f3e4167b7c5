#!/usr/bin/env python3
"""From an empty Debian to an answer with a token, by the commands of docs/running.md and nothing else, timed.

    python -m tests.deploy.host

Then what comes later: a second run, an upgrade, and what may go wrong. As root. systemd does not run here, so its units
are read and carried out (tests/deploy/units.py): what they ask for that cannot be is named as left out.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.deploy.machine import ROOT, Failed, Machine, alone, machine, make_base, network_of_its_own
from tests.deploy.units import Unit, read

DOCS = ROOT / "docs/running.md"
NAME = "porthole.example.com"
EMAIL, PASSWORD = "ops@example.com", "correct horse battery staple"
# What somebody types at the terminal, after which words; Enter where a default is good.
ANSWERS = {
    "E-mail address of the operator": EMAIL,
    "Short name of your organization": "acme",
    "Its name": "",
    "Where its applications run": "manifest",
    "The manifest's file": "/srv/acme.yaml",
    "Password:": PASSWORD,
    "Once more:": PASSWORD,
}
MANIFEST = "version: 1\nprojects: [{key: p, name: P, apps: [{key: a, name: Shop, source: {type: upload}}]}]\n"
CA = "/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt"

done: list[str] = []
left_out: list[str] = []


def step(what: str, act: Callable[[], object]) -> object:
    start = time.monotonic()
    result = act()
    seconds = time.monotonic() - start
    done.append(what)
    print(f"  ok {seconds:6.1f} s  {what}", flush=True)
    return result


def leave_out(what: str) -> None:
    left_out.append(what)
    print(f"  --  LEFT OUT  {what}", flush=True)


def commands() -> list[str]:
    """Those of the page's first way, in order."""
    section = DOCS.read_text().partition("\n## On one machine\n")[2].partition("\n### What")[0]
    lines = "\n".join(re.findall(r"^```sh\n(.*?)^```", section, re.DOTALL | re.MULTILINE)).replace("\\\n", "")
    return [line for line in lines.splitlines() if line.strip()]


def the_way(here: Machine) -> str:
    """The five commands. The token that the last one needs is got as a person gets it."""
    install_tools, clone, install, setup, ask = commands()
    step(f"1. {install_tools}", lambda: here.run(install_tools))
    step(f"2. {clone}", lambda: here.run(re.sub(r"https://\S+\.git", "/srv/porthole.git", clone)))
    print(step(f"3. {install} TLS=internal", lambda: here.run(f"{install} TLS=internal")))
    for file, mode in (("srv/acme.yaml", 0o644), ("root/acme.yaml", 0o600)):
        (here.root / file).write_text(MANIFEST)
        (here.root / file).chmod(mode)
    print(step(f"4. {setup}", lambda: here.answer(setup, ANSWERS)))
    network_of_its_own(here)
    step("   (systemd's part: web, worker and Caddy, by their units)", lambda: start_all(here))
    token = str(step("   (in the browser: sign in, make a token)", lambda: token_of(here)))
    ask = ask.replace("curl ", f"curl --fail --cacert {CA} --resolve {NAME}:443:127.0.0.1 -w '\\n%{{http_code}}\\n' ")
    answer = str(step(f"5. {commands()[-1]}", lambda: here.run(f"TOKEN={token}; {ask}")))
    print(answer)
    body, _, status = answer.strip().rpartition("\n")
    if status != "200" or json.loads(body)["organization"]["slug"] != "acme":
        raise Failed(f"5. {ask}\n{answer}")
    return token


running: dict[str, "subprocess.Popen[bytes]"] = {}


def units(here: Machine) -> list[Unit]:
    folder = here.root / "etc/systemd/system"
    ours = [read(folder / f"porthole-{name}.service") for name in ("web", "worker")]
    return [*ours, read(here.root / "lib/systemd/system/caddy.service")]


def start_all(here: Machine) -> None:
    (here.root / "etc/hosts").open("a").write(f"127.0.0.1 {NAME}\n")
    for unit in units(here):
        running[unit.name] = here.start(unit)
    call(here, "/readyz")
    here.wait_for_log("porthole-worker", "The worker has begun")


def call(here: Machine, path: str, token: str = "", patience: float = 30) -> str:
    """A page by https through Caddy; waits until it is 200."""
    header = f"-H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d '{{}}'" if token else ""
    line = f"curl -sS --fail-with-body --cacert {CA} --resolve {NAME}:443:127.0.0.1 {header} https://{NAME}{path}"
    deadline = time.monotonic() + patience
    while (answer := here.try_(line)).returncode:
        if time.monotonic() > deadline:
            raise Failed(f"{line}\n{answer.stdout}\n{logs(here)}")
        time.sleep(0.2)
    return str(answer.stdout)


def logs(here: Machine) -> str:
    return "\n".join(f"{unit.name}:\n{here.log(unit).read_text()[-3000:]}" for unit in units(here))


def token_of(here: Machine) -> str:
    words = [*here.network, sys.executable, str(ROOT / "tests/deploy/newcomer.py"), f"https://{NAME}", EMAIL]
    words += ["--connect-to", "127.0.0.1:443", "--ca", str(here.root / CA.lstrip("/"))]
    got = subprocess.run(words, input=f"{PASSWORD}\n", text=True, capture_output=True, check=False)
    if got.returncode:
        raise Failed(f"No token: {got.stdout}{got.stderr}\n{logs(here)}")
    return str(got.stdout.strip())


def stop(unit: Unit) -> float:
    """As systemctl stop: SIGTERM to the first process, and it has ended by itself in time. Seconds."""
    process, start = running.pop(unit.name), time.monotonic()
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(unit.seconds_to_stop())
    except subprocess.TimeoutExpired:
        raise Failed(f"{unit.name} had to be killed.") from None
    return time.monotonic() - start


def is_confined(here: Machine) -> None:
    """What a process of a unit may do is what the kernel says of it, not what we asked for."""
    for unit in units(here)[:2]:
        process = Path(f"/proc/{running[unit.name].pid}")
        said = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
        uid = (here.root / "etc/passwd").read_text().split("porthole:x:")[1].split(":")[0]
        if said["Uid"].split() != [uid] * 4 or said["NoNewPrivs"] != "1" or int(said["CapBnd"], 16):
            raise Failed(f"{unit.name}: {said}")
        mounts = [line.split() for line in (process / "mountinfo").read_text().splitlines()]
        seen = {words[4]: words[5] for words in mounts}  # of two at one place the later one is seen
        own = ("/proc", "/sys", "/dev")
        writable = sorted(at for at, how in seen.items() if how.startswith("rw") and not at.startswith(own))
        if writable != ["/tmp", "/var/lib/porthole", "/var/tmp"]:
            raise Failed(f"{unit.name} may write to {writable}")


def again(here: Machine, token: str) -> None:
    def state() -> str:
        return here.run(
            "cat /etc/porthole/porthole.env /etc/porthole/keys/* /etc/caddy/Caddyfile; readlink /opt/porthole/current;"
            "porthole export_manifest acme; stat -c '%n %a %U' /etc/porthole/* /etc/porthole/keys/*"
        )

    before = state()
    print(step("make install once more", lambda: here.run("make install")))
    flags = f"--operator {EMAIL} --organization acme --manifest /root/acme.yaml"
    print(step(f"porthole setup {flags} once more", lambda: here.run(f"porthole setup {flags}")))
    step("nothing has changed by that", lambda: same(before, state()))
    here.run(
        "git config user.email a@b.c; git config user.name A; echo >>CHANGELOG.md; git commit -qam 'Another version'"
    )
    step("make install of another version, while this one serves", lambda: here.run("make install"))
    step("the old version goes on meanwhile", lambda: call(here, "/api/v1/tools/get_account", token))
    step("porthole setup", lambda: here.run("porthole setup"))
    for unit in units(here)[:2]:
        step(f"{unit.name} ends within {unit.seconds_to_stop()} s of SIGTERM", lambda unit=unit: stop(unit))
        running[unit.name] = here.start(unit)
    step("the new version answers the old token", lambda: call(here, "/api/v1/tools/get_account", token))


def same(before: str, after: str) -> None:
    if before != after:
        raise Failed(f"It was:\n{before}\nIt is:\n{after}")


def refusals(here: Machine) -> None:
    """What goes wrong is said in one sentence, and nothing is made."""
    address, nobody = f"PUBLIC_URL=https://{NAME}", "setpriv --reuid=nobody --clear-groups"
    cases = [
        ("no PUBLIC_URL", "make install", r"say where people will find it"),
        (
            "PUBLIC_URL without https",
            "make install PUBLIC_URL=http://porthole.example.com",
            r"PUBLIC_URL must look like https",
        ),
        ("an unknown proxy", f"make install {address} PROXY=apache", r"PROXY must be caddy or none"),
        (
            "a user who is not root",
            f"git clone -q /srv/porthole.git /srv/theirs; cd /srv/theirs; {nobody} bin/install {address}",
            r"has to be done as root",
        ),
        (
            "a port that is taken",
            f"python3 -m http.server -b 127.0.0.1 8765 >/dev/null 2>&1 & sleep 1; make install {address} PORT=8765;"
            "status=$?; kill $!; exit $status",
            r"port 8765 is taken\. Choose another: make install .* PORT=8001",
        ),
    ]
    for what, line, sentence in cases:
        step(f"refused: {what}", lambda line=line, sentence=sentence: refused(here, line, sentence))
    if (here.root / "etc/porthole").exists():
        raise Failed("Something was made.")


def wrong_settings(here: Machine) -> None:
    """Of what is installed: each is put into the settings and taken out again."""
    settings = here.root / "etc/porthole/porthole.env"
    good = settings.read_text()
    cases = [
        ("a database that does not answer", "DATABASE_URL=postgresql://porthole:no@127.0.0.1:9/x",
         r"CommandError: The database that DATABASE_URL names cannot be used: "),
        ("an address without https", "PUBLIC_URL=http://porthole.example.com", r"PUBLIC_URL must start with https://"),
    ]  # fmt: skip
    for what, line, sentence in cases:
        settings.write_text(f"{good}{line}\n")
        step(f"refused: {what}", lambda sentence=sentence: refused(here, "porthole setup", sentence))
    settings.write_text(good)
    keys = here.root / "etc/porthole/keys/SECRET_KEY"
    keys.chmod(0o644)
    step("refused: a key that everybody may read", lambda: refused(here, "porthole setup", r"chmod 600 it"))
    keys.chmod(0o600)
    line = "setpriv --reuid=nobody --clear-groups porthole setup"
    step("refused: porthole by a user who is not root", lambda: refused(here, line, "has to run as root"))


def refused(here: Machine, line: str, sentence: str) -> None:
    cwd = here.cwd
    said = here.try_(line)
    here.cwd = cwd
    lines = [each for each in said.stdout.splitlines() if not re.match(r"make(\[\d\])?: |\w+ is in |Installing ", each)]
    if not said.returncode or len(lines) != 1 or not re.search(sentence, lines[0]):
        raise Failed(f"{line}\nanswered {said.returncode}:\n{said.stdout}")


def main() -> int:
    if os.geteuid() != 0:
        leave_out("the way without containers: it has to be root")
        return 0
    if missing := make_base():
        leave_out(f"the way without containers: {missing}")
        return 0
    alone("tests.deploy.host")
    start = time.monotonic()
    try:
        with machine() as here:
            token = the_way(here)
            seconds = time.monotonic() - start
            print(f"\nFrom an empty Debian to 200 with a token: {len(commands())} commands, {seconds:.0f} s.\n")
            step(
                "the processes may write to /var/lib/porthole and a /tmp of their own, and gain nothing",
                lambda: is_confined(here),
            )
            again(here, token)
            wrong_settings(here)
            for unit in units(here):
                step(f"{unit.name} ends within {unit.seconds_to_stop()} s of SIGTERM", lambda unit=unit: stop(unit))
                if unit.left_out():
                    leave_out(f"{unit.name}: {', '.join(unit.left_out())} (systemd does not run here)")
        with machine() as here:
            here.run(f"{commands()[0]} python3; {commands()[1]}".replace("https://git.example.com", "/srv"))
            refusals(here)
    except Failed as failed:
        print(f"\nFAILED: {failed}")
        return 1
    print(f"\n{len(done)} steps done, {len(left_out)} left out.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
