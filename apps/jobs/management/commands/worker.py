"""manage.py worker: does what is due in the background. Any number of them, on any number of machines."""

import logging
import os
import signal
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from apps.jobs.worker import Worker
from apps.web.management.database_command import DatabaseCommand

MAX_THREADS = 64


class Command(DatabaseCommand):
    help = "Does background work until SIGTERM; what runs then has 20 seconds to end."
    waits_for_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--threads", type=int, default=8, help="how many tasks at once (default: 8)")
        parser.add_argument("--parent", type=int, help="end when this process is not the parent any more")

    def handle(self, *args: Any, threads: int, parent: int | None, **options: Any) -> None:
        if not 1 <= threads <= MAX_THREADS:
            raise CommandError(f"--threads must be from 1 to {MAX_THREADS}.")
        worker = Worker(threads, settings.DATA_DIR, parent)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, worker.stop)
        if worker.run():
            # Python would wait for threads of pools, such as those that read a platform which hangs.
            logging.shutdown()
            os._exit(0)
