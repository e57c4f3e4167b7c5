#!/usr/bin/env python3
"""From an empty Debian to an answer with a token, by the commands of docs/running.md and nothing else, timed.

    python -m tests.deploy.host

Then what comes later: a second run, an upgrade, what may go wrong, PostgreSQL and nginx. As root. systemd does not run
here, so its units are read and carried out (units.py): what they ask for that cannot be is named as left out.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

from tests.deploy.alone import alone
from tests.deploy.installed import CADDYS_CA, EMAIL, NAME, PASSWORD, TOOL, call, start, stop, token_of, units
from tests.deploy.machine import ROOT, Machine, machine, make_base, network_of_its_own
from tests.deploy.parts import with_postgresql_and_nginx
from tests.deploy.refusals import refusals, wrong_settings
from tests.deploy.steps import Failed, leave_out, since, step, summary

DOCS = ROOT / "docs/running.md"
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
    token = step("   (in the browser: sign in, make a token)", lambda: token_of(here))
    options = f"--fail --cacert {CADDYS_CA} --resolve {NAME}:443:127.0.0.1 -w '\\n%{{http_code}}\\n'"
    ask = ask.replace("curl ", f"curl {options} ")
    answer = step(f"5. {commands()[-1]}", lambda: here.run(f"TOKEN={token}; {ask}"))
    print(answer)
    body, _, status = answer.strip().rpartition("\n")
    if status != "200" or json.loads(body)["organization"]["slug"] != "acme":
        raise Failed(f"5. {ask}\n{answer}")
    return token


def start_all(here: Machine) -> None:
    (here.root / "etc/hosts").open("a").write(f"127.0.0.1 {NAME}\n")
    for unit in units(here):
        start(here, unit)
    call(here, "/readyz")
    here.wait_for_log("porthole-worker", "The worker has begun")


def is_confined(here: Machine) -> None:
    """What a process of a unit may do is what the kernel says of it, not what we asked for."""
    for unit in units(here)[:2]:
        process = Path(f"/proc/{here.running[unit.name].pid}")
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
    step("the old version goes on meanwhile", lambda: call(here, TOOL, token))
    step("porthole setup", lambda: here.run("porthole setup"))
    for unit in units(here)[:2]:
        step(f"{unit.name} ends within {unit.seconds_to_stop()} s of SIGTERM", lambda unit=unit: stop(here, unit))
        start(here, unit)
    step("the new version answers the old token", lambda: call(here, TOOL, token))


def same(before: str, after: str) -> None:
    if before != after:
        raise Failed(f"It was:\n{before}\nIt is:\n{after}")


def on_an_empty_debian() -> None:
    start = time.monotonic()
    with machine() as here:
        token = the_way(here)
        print(f"\nFrom an empty Debian to 200 with a token: {len(commands())} commands, {since(start)}.\n")
        step(
            "the processes may write to /var/lib/porthole and a /tmp of their own, and gain nothing",
            lambda: is_confined(here),
        )
        again(here, token)
        wrong_settings(here)
        for unit in units(here):
            step(f"{unit.name} ends within {unit.seconds_to_stop()} s of SIGTERM", lambda unit=unit: stop(here, unit))
            if unit.left_out():
                leave_out(f"{unit.name}: {', '.join(unit.left_out())} (systemd does not run here)")


def main() -> int:
    alone("tests.deploy.host")
    if os.geteuid() != 0:
        leave_out("the way without containers: it has to be root")
        return 0
    if missing := step("an empty Debian, by debootstrap or from the time before", make_base):
        leave_out(f"the way without containers: {missing}")
        return 0
    try:
        on_an_empty_debian()
        with machine() as here:
            here.run(f"{commands()[0]} python3; {commands()[1]}".replace("https://git.example.com", "/srv"))
            refusals(here)
            with_postgresql_and_nginx(here)
    except Failed as failed:
        print(f"\nFAILED: {failed}")
        return 1
    print(f"\n{summary()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
