"""A real gunicorn whose organization has applications with repositories, which lie where the test says."""

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.config.server import LOCAL, Server, gunicorn, run

APPS = """
import json, sys
import django
django.setup()
from apps.orgs.models import Organization, Project
from tests.factories import make, make_app
project = make(Project, Organization.objects.get(slug="demo"), name="Shop")
print("IDS" + json.dumps([
    make_app(project, url.rpartition("/")[2], source_type="git", repository=url, branch="main").id
    for url in json.loads(sys.argv[1])
]))
"""


@dataclass
class GitServer:
    """Its applications' ids by repository, in the order of `remotes`."""

    server: Server
    apps: list[str]
    data: Path

    def call(self, tool: str, app: str, **inputs: object) -> tuple[int, dict, dict]:
        """Status, JSON and headers."""
        body = json.dumps({"applicationId": app} | inputs).encode()
        answer = self.server.call(f"/api/v1/tools/{tool}", body=body)
        return answer.status, json.loads(answer.body), answer.headers

    def worker(self) -> int:
        """The process id of the one worker."""
        (worker,) = children_of(self.server.process.pid)
        return worker


@contextmanager
def git_server(databases: Path, folder: Path, remotes: dict[str, str], **env: str) -> Iterator[GitServer]:
    """Serves one application for each repository: `remotes` are where they lie, by their https URL."""
    folder.mkdir()
    (folder / "static").mkdir()
    shutil.copy(databases / "organizations.sqlite3", folder / "porthole.sqlite3")
    settings = LOCAL | {"DATA_DIR": str(folder), "RATE_LIMITS": "off"}
    script = {"DJANGO_SETTINGS_MODULE": "config.settings"}
    status, said = run("-c", APPS, json.dumps(list(remotes)), env=settings | script)
    assert status == 0, said
    (line,) = [line for line in said.splitlines() if line.startswith("IDS")]
    served = settings | {"REMOTES": json.dumps(remotes)} | env
    with gunicorn(served, app="tests.faults.fetching:application") as server:
        yield GitServer(server, json.loads(line.removeprefix("IDS")), folder)


@contextmanager
def silent_host() -> Iterator[int]:
    """A port where connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        taken: list[socket.socket] = []

        def take() -> None:
            try:
                while True:
                    taken.append(listener.accept()[0])
            except OSError:  # it was closed
                return

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in taken:
                connection.close()


def children_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def peak_memory(pid: int) -> int:
    """The most memory that a process has had at once, in MiB."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024
