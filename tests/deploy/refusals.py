"""What goes wrong on one machine: it is told in one sentence, and nothing is made."""

import re

from tests.deploy.installed import NAME
from tests.deploy.machine import Machine
from tests.deploy.steps import Failed, step


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
