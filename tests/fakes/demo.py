"""What make demo-platform shows: a fake Dokploy and the sites of its applications, of which there is always news.

Deployments begin, finish and fail. One certificate is about to expire, one expires while you watch, and one site
answers 503 now and then.
"""

import threading
import time
from contextlib import ExitStack
from typing import Self

from tests.fakes import certificates
from tests.fakes.dokploy import DokployFake
from tests.fakes.sites import SitesFake

APPLICATIONS = 20
PAUSE = 5.0  # seconds between two changes
# Places among the applications. Even ones, in which nothing is deployed but at the start: so the news is the site's.
EXPIRING, EXPIRES, BREAKS = 4, 6, 8
DAYS_LEFT = 12
SECONDS_LEFT = 150  # of which the start takes some, and the first check comes within a minute of it
PERIOD = 180  # seconds in which the site breaks once, for the second half


class Demo(ExitStack):
    """`places` is what somebody needs to connect to it."""

    def __init__(self, port: int = 0) -> None:
        super().__init__()
        self.dokploy = DokployFake(applications=APPLICATIONS, composes=1, port=port, is_live=True)
        for number in (1, 2):
            self.dokploy.rows.add_preview(self.dokploy.rows.applications[0], number)
        days = {self.host(EXPIRING): DAYS_LEFT, self.host(EXPIRES): SECONDS_LEFT / 86400}
        self.sites = SitesFake(days)
        self.places: dict[str, str | int] = {
            "url": self.dokploy.url, "key": self.dokploy.key,
            "sites_port": self.sites.port, "authority": certificates.authority().decode(),
        }  # fmt: skip

    def __enter__(self) -> Self:
        self.enter_context(self.dokploy)
        self.enter_context(self.sites)
        return super().__enter__()

    def host(self, number: int) -> str:
        rows = self.dokploy.rows
        id = rows.applications[number]["applicationId"]
        return str(next(domain["host"] for domain in rows.domains if domain["applicationId"] == id))

    def keep_changing(self, ended: threading.Event) -> None:
        threading.Thread(target=self._keep_breaking, args=(ended,), daemon=True).start()
        self.dokploy.keep_changing(PAUSE, ended)

    def _keep_breaking(self, ended: threading.Event) -> None:
        began, host = time.monotonic(), self.host(BREAKS)
        while not ended.wait(1):
            is_broken = (time.monotonic() - began) % PERIOD > PERIOD / 2
            self.sites.broken = {host} if is_broken else set()
