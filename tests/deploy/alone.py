"""A script as the only processes of a machine of its own. However it ends, this machine is then as it was before.

It gets namespaces for processes and mounts, and one folder for all its files. Whoever waits for it outside ends what is
left, and takes away what namespaces do not: that folder, cgroups, bridges, and folders that dockerd makes unasked.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

FOLDER = "PORTHOLE_DEPLOY_FOLDER"
OF_DOCKERD = [Path(name) for name in ("/etc/docker", "/run/docker", "/run/containerd", "/opt/containerd")]
GRACE = 30  # seconds to put things in order after a signal
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stopped(number: int, _: FrameType | None) -> None:
    """Once: the same signal often comes from more than one."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def alone(module: str, *, with_engine: bool = False) -> None:
    """Returns in the namespaces, as root. Outside of them it waits, and does not return.

    `with_engine`: it may start dockerd, with cgroups in that of `cgroup`. One that does not leaves others' alone.
    """
    for number in SIGNALS:
        signal.signal(number, stopped)
    if os.geteuid() == 0 and FOLDER not in os.environ:
        sys.exit(_watch(module, with_engine))


def cgroup() -> str:
    return Path(os.environ[FOLDER]).name


def _watch(module: str, with_engine: bool) -> int:
    network = _network() if with_engine else []
    made = [folder for folder in OF_DOCKERD if with_engine and not folder.exists()]
    folder = tempfile.mkdtemp(prefix="porthole-check-")
    try:
        status = _run(module, folder)
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", folder, *made], check=True)
        if with_engine:
            _sweep(Path(folder).name, network)
    if not with_engine:
        return status
    if (now := _network()) != network:
        print("\nFAILED: this machine's network was:", *network, "It is:", *now, sep="\n")
        return 1
    return status


def _run(module: str, folder: str) -> int:
    """Its own session: a terminal's Ctrl-C comes to us, and once to it."""
    words = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    words += ["--propagation", "private", sys.executable, "-m", module, *sys.argv[1:]]
    child = subprocess.Popen(words, env=os.environ | {FOLDER: folder, "TMPDIR": folder}, start_new_session=True)
    try:
        return child.wait()
    finally:
        _end(child)


def _end(child: "subprocess.Popen[bytes]") -> None:
    """With the first process of a namespace all others end."""
    for number, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)):
        if child.poll() is None:
            first = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
            os.kill(int(first[0]) if first else child.pid, number)
            try:
                child.wait(patience)
            except subprocess.TimeoutExpired:
                continue


def _sweep(name: str, network: list[str]) -> None:
    for top in Path("/sys/fs/cgroup").glob(f"**/{name}"):
        for each in sorted((path for path in [top, *top.rglob("*")] if path.is_dir()), reverse=True):
            each.rmdir()
    for line in set(_network()) - set(network):
        if bridge := re.fullmatch(r"link (br-[0-9a-f]{12})", line):
            subprocess.run(["ip", "link", "delete", bridge[1]], check=True)


def _network() -> list[str]:
    """This machine's devices, routes and rules: nothing that changes by itself."""
    rules = _say("iptables-save") if shutil.which("iptables-save") else ""
    links = re.findall(r"^\d+: ([\w.-]+)", _say("ip", "-o", "link"), re.MULTILINE)
    return [
        *(f"link {link}" for link in links),
        *_say("ip", "route").splitlines(),
        *re.findall(r"^(?:\*|-).*", rules, re.MULTILINE),
        f"ip_forward {Path('/proc/sys/net/ipv4/ip_forward').read_text().strip()}",
    ]


def _say(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout
