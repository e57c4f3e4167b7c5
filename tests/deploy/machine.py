"""An empty Debian in a folder, as a machine of its own: its own processes, mounts and, once it serves, its own network.

Made from Debian's packages (debootstrap), kept for the next time below build/, and thrown away as it was used. It takes
from this machine only how packages and names are found.
"""

import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.deploy.steps import Failed
from tests.deploy.units import Unit, script

ROOT = Path(__file__).resolve().parents[2]
BASE = Path(os.environ.get("DEBIAN_BASE") or ROOT / "build/deploy/debian")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Where packages come from is the machine's own affair.
LENT = (
    "etc/resolv.conf",
    "etc/ssl/certs/ca-certificates.crt",
    "etc/pip.conf",
    "etc/apt/sources.list",
    "etc/apt/sources.list.d",
)
AUTHORITIES = "etc/ssl/certs/ca-certificates.crt"
PASSED_ON = re.compile(r"(PIP_|UV_|SSL_|https?_proxy|no_proxy)", re.IGNORECASE)


@dataclass
class Machine:
    root: Path
    network: list[str] = field(default_factory=list)  # how a command enters the network of its own
    cwd: str = "/root"
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)  # by the name of their unit

    def command(self, *words: str) -> list[str]:
        passed_on = [f"{name}={value}" for name, value in os.environ.items() if PASSED_ON.match(name)]
        clean = ["env", "-i", f"PATH={PATH}", "HOME=/root", "TERM=dumb", *passed_on, "PIP_CERT=/srv/authorities"]
        return [*self.network, "chroot", str(self.root), *clean, *words]

    def try_(self, line: str, **options: object) -> "subprocess.CompletedProcess[str]":
        """One line of a shell that goes on where the last one was."""
        line = f"cd {self.cwd}\n{line}\nstatus=$?; pwd >/run/cwd; exit $status"
        done = subprocess.run(
            self.command("bash", "-c", line), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False, stdin=subprocess.DEVNULL, **options,
        )  # type: ignore[call-overload]  # fmt: skip
        self.cwd = (self.root / "run/cwd").read_text().strip()
        return done  # type: ignore[no-any-return]

    def run(self, line: str) -> str:
        done = self.try_(line)
        if done.returncode:
            raise Failed(f"{line}\n{done.stdout}")
        return str(done.stdout)

    def answer(self, line: str, answers: dict[str, str]) -> str:
        """A line at a terminal. `answers` tells what is typed after which words."""
        child, terminal = pty.fork()
        if child == 0:
            words = self.command("bash", "-c", f"cd {self.cwd} && {line}")
            os.execvp(words[0], words)
        said = seen = ""
        left = dict(answers)  # a question that comes again was not answered well
        while True:
            try:
                piece = os.read(terminal, 4096).decode(errors="replace")
            except OSError:  # Linux says so when the other side has gone
                piece = ""
            if not piece:
                break
            said, seen = said + piece, seen + piece
            asked = next((question for question in left if question in seen), None)
            if asked:
                os.write(terminal, f"{left.pop(asked)}\n".encode())
                seen = ""
            elif any(question in seen for question in answers):
                os.kill(child, signal.SIGTERM)
        os.close(terminal)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise Failed(f"{line}\n{said}")
        return said.replace("\r", "")

    def start(self, unit: Unit) -> "subprocess.Popen[bytes]":
        """As systemd would, and ready when it says so."""
        (self.root / "run/notify").mkdir(mode=0o777, exist_ok=True)
        (self.root / "run/notify").chmod(0o777)
        log = (self.root / f"run/{unit.name}.log").open("ab")
        words = [*self.network, "chroot", str(self.root), "unshare", "--mount", "sh", "-c", script(unit, self.root)]
        with notifications(self.root / "run/notify" / unit.name) as ready:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            if unit.one("Type") == "notify":
                wait_for(ready, process, f"{unit.name} says that it is ready", self.log(unit))
        return process

    def wait_for_log(self, name: str, words: str, seconds: float = 60) -> None:
        log, deadline = self.root / f"run/{name}.log", time.monotonic() + seconds
        while words not in log.read_text(errors="replace"):
            if time.monotonic() > deadline:
                raise Failed(f"{name} does not say: {words}\n{log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.1)

    def log(self, unit: Unit) -> Path:
        return self.root / f"run/{unit.name}.log"


@contextmanager
def notifications(path: Path) -> Iterator["object"]:
    import socket

    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        path.chmod(0o777)
        listener.setblocking(False)

        def is_ready() -> bool:
            try:
                return b"READY=1" in listener.recv(4096)
            except BlockingIOError:
                return False

        yield is_ready


def wait_for(is_so: object, process: "subprocess.Popen[bytes]", what: str, log: Path, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        if is_so():  # type: ignore[operator]
            return
        time.sleep(0.05)
    raise Failed(f"Not so: {what}\n{log.read_text(errors='replace')[-4000:]}")


def make_base() -> str:
    """What was left out, or nothing."""
    if BASE.exists():
        return ""
    if not shutil.which("debootstrap"):
        subprocess.run([ROOT / "bin/debian-packages", "debootstrap"], check=False)
    if not shutil.which("debootstrap"):
        return "no debootstrap"
    release = re.search(r"VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text())
    draft = BASE.with_suffix(".new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", "--include=ca-certificates", release[1] if release else "stable", draft],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        return f"debootstrap fails: {done.stdout.splitlines()[-1]}"
    shutil.rmtree(draft / "var/cache/apt/archives")
    draft.rename(BASE)
    return ""


@contextmanager
def machine() -> Iterator[Machine]:
    """Ours alone: it needs to be called in namespaces of one's own (alone.py), which end with this process."""
    with TemporaryDirectory(prefix="porthole-deploy-") as folder:
        root = Path(folder) / "root"
        root.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755,size=4g", "tmpfs", folder], check=True)
        for name in ("upper", "work", "root"):
            (Path(folder) / name).mkdir()
        layers = f"lowerdir={BASE},upperdir={folder}/upper,workdir={folder}/work"
        subprocess.run(["mount", "-t", "overlay", "-o", layers, "overlay", root], check=True)
        for kind, name in (("proc", "proc"), ("sysfs", "sys"), ("tmpfs", "run"), ("tmpfs", "tmp")):
            subprocess.run(["mount", "-t", kind, kind, root / name], check=True)
        devices(root / "dev")
        (root / "tmp").chmod(0o1777)
        (root / "run/lock").mkdir(mode=0o1777)
        start_nothing(root)
        lend(root)
        try:
            yield Machine(root)
        finally:
            subprocess.run(["umount", "--recursive", "--lazy", root], check=False)
            subprocess.run(["umount", "--lazy", folder], check=False)


def devices(folder: Path) -> None:
    """Its own, so that nothing done to them is done to this machine's."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder], check=True)
    for name, major, minor in (
        ("null", 1, 3),
        ("zero", 1, 5),
        ("full", 1, 7),
        ("random", 1, 8),
        ("urandom", 1, 9),
        ("tty", 5, 0),
    ):
        os.mknod(folder / name, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
        (folder / name).chmod(0o666)
    (folder / "fd").symlink_to("/proc/self/fd")
    for kind, name, mode in (("devpts", "pts", "mode=620,ptmxmode=666"), ("tmpfs", "shm", "mode=1777")):
        (folder / name).mkdir()
        subprocess.run(["mount", "-t", kind, "-o", mode, kind, folder / name], check=True)


def start_nothing(root: Path) -> None:
    """Packages start what they install, at ports of this machine; there is no systemd to do it."""
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)


def lend(root: Path) -> None:
    for name in LENT:
        source, target = Path("/") / name, root / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.exists():
            target.unlink(missing_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    for name in os.environ:  # folders that pip is told of
        for folder in re.findall(r"(?:^|file://)(/[\w./-]+)", os.environ[name]) if name.startswith("PIP_") else ():
            bind(Path(folder), root)
    for folder in re.findall(r"[ =](?:file://)?(/opt/[\w./-]+)", read_if_there(Path("/etc/pip.conf"))):
        bind(Path(folder), root)
    shutil.copyfile(Path("/") / AUTHORITIES, root / "srv/authorities")
    source = root / "srv/porthole.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", ROOT, source], check=True)


def read_if_there(file: Path) -> str:
    return file.read_text() if file.exists() else ""


def bind(folder: Path, root: Path) -> None:
    if folder.is_dir():
        (root / folder.relative_to("/")).mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--rbind", "-o", "ro", folder, root / folder.relative_to("/")], check=True)


def network_of_its_own(here: Machine) -> None:
    """From now on: a loopback device and nothing else, so that every port is free and nobody else is reached."""
    holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE)
    assert holder.stdout
    holder.stdout.readline()
    here.network = ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]
    subprocess.run([*here.network, "ip", "link", "set", "lo", "up"], check=True)
