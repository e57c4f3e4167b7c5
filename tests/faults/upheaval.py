"""A Dokploy whose applications never rest: each change is one that people make."""

import random
import threading
from typing import Any

from tests.fakes.dokploy_rows import Rows, task

MAX_GONE = 5  # applications at a time: of half of them Porthole asks somebody first
MAX_APPLICATIONS = 26


class Upheaval:
    """Changes a fake's rows at random moments, about ten times a second, until `stop`. Afterwards nothing runs."""

    def __init__(self, rows: Rows, chance: random.Random) -> None:
        self.rows, self.chance = rows, chance
        self.deployments = {row["deploymentId"] for row in rows.deployments}  # all that there ever were
        self._gone: list[dict[str, Any]] = []
        self._number = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()
        with self.rows.lock:
            for deployment in self._running():
                self.rows.finish(deployment)

    def _go_on(self) -> None:
        kinds = (self._deploy, self._finish, self._add, self._remove, self._bring_back, self._preview, self._name,
                 self._domain, self._container)  # fmt: skip
        while not self._is_over.wait(self.chance.uniform(0, 0.2)):
            with self.rows.lock:
                self._number += 1
                self.chance.choices(kinds, weights=(6, 8, 1, 1, 1, 2, 2, 1, 2))[0]()
                self.deployments |= {row["deploymentId"] for row in self.rows.deployments}

    def _application(self) -> dict[str, Any]:
        return self.chance.choice(self.rows.applications)

    def _running(self) -> list[dict[str, Any]]:
        return [row for row in self.rows.deployments if row["status"] == "running"]

    def _deploy(self) -> None:
        self.rows.deploy(self.chance.choice([*self.rows.applications, *self.rows.composes]))

    def _finish(self) -> None:
        if running := self._running():
            failed = self.chance.random() < 0.2
            self.rows.finish(self.chance.choice(running), *(("error", "It broke.") if failed else ("done",)))

    def _add(self) -> None:
        if len(self.rows.applications) < MAX_APPLICATIONS:
            name = f"New {self._number}"
            self.rows.add_application(self._number % len(self.rows.projects), name=name, appName=f"new-{self._number}")

    def _remove(self) -> None:
        if len(self._gone) < MAX_GONE:
            gone = self._application()
            tables = (self.rows.domains, self.rows.deployments)
            mine = [[row for row in table if row["applicationId"] == gone["applicationId"]] for table in tables]
            self.rows.remove(gone)
            self._gone.append({"application": gone, "rows": mine})

    def _bring_back(self) -> None:
        if self._gone:
            back = self._gone.pop(self.chance.randrange(len(self._gone)))
            self.rows.applications.append(back["application"])
            for table, rows in zip((self.rows.domains, self.rows.deployments), back["rows"], strict=True):
                table.extend(rows)

    def _preview(self) -> None:
        """One is made, or is gone with its domain and its deployments."""
        if len(self.rows.previews) < 4:
            self.rows.add_preview(self._application(), self._number)
            return
        key = self.rows.previews.pop(0)["previewDeploymentId"]
        for table in (self.rows.domains, self.rows.deployments):
            table[:] = [row for row in table if row["previewDeploymentId"] != key]

    def _name(self) -> None:
        self._application()["env"] = f"DATABASE_URL=${{{{project.DATABASE_URL}}}}\nCHANGED_{self._number}=1\n"

    def _domain(self) -> None:
        domain = self.chance.choice([row for row in self.rows.domains if not row["previewDeploymentId"]])
        domain["enabled"] = not domain["enabled"]

    def _container(self) -> None:
        state = self.chance.choice(["running", "failed", "starting"])
        self.rows.tasks[self._application()["appName"]] = [task(state, f"{state.title()} 3 minutes ago")]
