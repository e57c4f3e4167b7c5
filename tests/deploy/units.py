"""systemd's units, read and carried out where systemd does not run: the same command, user, environment and folders.

`command` makes one shell script of a unit. What it cannot carry out is named by `left_out`, so that nobody takes it for
checked.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

# Done by `script`; those that say nothing to a process that is started by hand are not worth a line.
CARRIED_OUT = {
    "ExecStart", "WorkingDirectory", "EnvironmentFile", "Environment", "User", "Group", "StateDirectory",
    "StateDirectoryMode", "UMask", "ProtectSystem", "ProtectHome", "PrivateTmp", "NoNewPrivileges",
    "CapabilityBoundingSet", "AmbientCapabilities", "MemoryDenyWriteExecute", "Type", "TimeoutStopSec", "LimitNOFILE",
    "LimitNPROC", "KillMode",
}  # fmt: skip
OF_THE_MANAGER = {"Restart", "RestartSec", "ExecReload"}
VIEW = "/mnt"
# prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN): what systemd's filter forbids, where the kernel does it itself.
REFUSE_EXEC_GAIN = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) and sys.exit('no PR_SET_MDWE'); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


@dataclass(frozen=True)
class Unit:
    name: str
    values: dict[str, list[str]]  # of [Service], in order; an empty value takes back those before it

    def one(self, key: str, default: str = "") -> str:
        return self.values.get(key, [default])[-1]

    def left_out(self) -> list[str]:
        return sorted(set(self.values) - CARRIED_OUT - OF_THE_MANAGER)

    def seconds_to_stop(self) -> int:
        return int(self.one("TimeoutStopSec", "90").removesuffix("s"))


def read(*files: Path) -> Unit:
    """A unit and what is dropped in beside it."""
    values: dict[str, list[str]] = {}
    for file in files:
        section = ""
        for line in file.read_text().splitlines():
            if line.startswith("["):
                section = line.strip("[]")
            elif section == "Service" and "=" in line and not line.startswith(("#", ";")):
                key, _, value = line.partition("=")
                values.setdefault(key, []).append(value)
    return Unit(files[0].stem, values)


def environment(unit: Unit, root: Path) -> dict[str, str]:
    """What the process gets, and nothing of ours. HOME is the user's, as systemd has it."""
    home = next(line.split(":")[5] for line in (root / "etc/passwd").read_text().splitlines()
                if line.startswith(f"{unit.one('User')}:"))  # fmt: skip
    found = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8", "HOME": home}
    found |= {"USER": unit.one("User"), "NOTIFY_SOCKET": f"/run/notify/{unit.name}"}
    for value in unit.values.get("Environment", []):
        found |= dict(word.split("=", 1) for word in shlex.split(value))
    for file in unit.values.get("EnvironmentFile", []):
        found |= dict(
            line.split("=", 1)
            for line in (root / file.lstrip("-/")).read_text().splitlines()
            if re.match(r"[A-Z]\w*=", line)
        )
    return found


def script(unit: Unit, root: Path) -> str:
    """For `sh -c`, as root in a mount namespace of its own, whose `/` is `root`."""
    values = environment(unit, root)
    command = [
        re.sub(r"\$\{(\w+)\}", lambda name: values[name[1]], word) for word in shlex.split(unit.one("ExecStart"))
    ]
    user = unit.one("User")
    privileges = ["setpriv", f"--reuid={user}", f"--regid={unit.one('Group') or user}", "--init-groups"]
    if unit.one("NoNewPrivileges") == "yes":
        privileges.append("--no-new-privs")
    if unit.values.get("CapabilityBoundingSet") == [""]:
        privileges += ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
    for capability in unit.one("AmbientCapabilities").lower().split():
        name = capability.removeprefix("cap_")
        privileges += [f"--inh-caps=+{name}", f"--ambient-caps=+{name}"]
    if unit.one("MemoryDenyWriteExecute") == "yes":
        privileges += ["/usr/bin/python3", "-c", REFUSE_EXEC_GAIN]
    given = [f"{name}={value}" for name, value in values.items()]
    start = "\n".join([
        "set -e",
        f"umask {unit.one('UMask', '0022')}",
        f"cd {unit.one('WorkingDirectory', '/')}",
        shlex.join(["exec", *privileges, "/usr/bin/env", "-i", *given, *command]),
    ])  # fmt: skip
    return "\n".join(["set -e", *folders(unit), shlex.join(["exec", "chroot", VIEW, "sh", "-c", start])])


def folders(unit: Unit) -> list[str]:
    """How the process sees the machine: a view elsewhere, since what is mounted on `/` itself is not seen from `/`."""
    lines = [f"mount --rbind / {VIEW}"]
    if unit.one("ProtectSystem") == "strict":
        lines += [f"mount -o remount,bind,ro {VIEW}{folder}" for folder in ("", "/run")]
    for name in unit.one("StateDirectory").split():
        user, folder = unit.one("User"), f"{VIEW}/var/lib/{name}"
        lines.append(f"test -d {folder} && test $(stat -c %U {folder}) = {user}")  # systemd would make it
        lines += [f"mount --bind {folder} {folder}", f"mount -o remount,bind,rw {folder}"]
    if unit.one("ProtectHome") == "yes":
        lines += [f"mount -t tmpfs -o ro,mode=0 tmpfs {VIEW}{folder}" for folder in ("/home", "/root")]
    if unit.one("PrivateTmp") in ("yes", "true"):
        lines += [f"mount -t tmpfs -o mode=1777 tmpfs {VIEW}{folder}" for folder in ("/tmp", "/var/tmp")]
    return lines
