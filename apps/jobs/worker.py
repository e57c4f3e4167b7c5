"""The worker: one thread claims what is due, one renews leases, and each run has a thread of its own."""

import logging
import os
import threading
import time
import traceback
import uuid
from pathlib import Path
from typing import Any, cast

from django.db import Error as DatabaseError
from django.db import close_old_connections, connection, connections
from django_tasks.base import TaskContext, TaskResult

from apps.jobs import data_dirs, leases, scheduling
from apps.jobs.leases import Claim
from apps.web.database_errors import what_failed

log = logging.getLogger("porthole.worker")

# All in seconds.
POLL = 0.5
SLOW = 2.0  # what runs for longer waits for somebody else, and gives its place to another
GRACE = 20.0  # for what runs when the worker is told to end
MAX_PAUSE = 10.0  # between attempts at a database that is not available
LOCK_TIMEOUT = 4.0  # what the worker writes itself waits no longer for a lock: a thread that waits cannot end
WRITE_AGAIN = (0.0, 1.0, 5.0, 10.0, 20.0)  # before each attempt to write how a run ended; then the lease ends

SLOW_FOR_EACH = 8  # so many slow runs for each thread, and nothing more is begun


class Worker:
    """`threads` runs at once, and as many again as are slow, up to a bound: a dead platform delays no other."""

    def __init__(self, threads: int, data_dir: Path, parent: int | None = None) -> None:
        self.id = uuid.uuid4().hex
        self._threads, self._parent = threads, parent
        self._folder = data_dir
        self._data_dir: str | None = None  # its id, once what is registered has rows
        self._running: dict[Claim, float] = {}  # since when (monotonic)
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._is_stopping = False
        self._is_ending = threading.Event()  # nothing more is begun
        self._is_done = threading.Event()
        self._problem: str | None = None
        self._pause = POLL

    def stop(self, *_: Any) -> None:
        """A signal's handler: it takes no lock, which the thread that it interrupts may hold."""
        self._is_stopping = True

    def wake(self) -> None:
        """Look again at once. Not for a signal's handler."""
        self._wake.set()

    def run(self) -> int:
        """Until `stop`, or the end of the parent. What runs then has GRACE to end; else its lease ends.

        Returns how much of it runs on, in threads.
        """
        log.info("The worker has begun.", extra={"fields": {"worker": self.id, "threads": self._threads}})
        keeper = threading.Thread(target=self._keep, name="leases", daemon=True)
        keeper.start()
        while not self._must_stop():
            self._step()
            self._wake.wait(self._pause)
            self._wake.clear()
        left = self._drain()
        self._is_done.set()
        connections.close_all()
        log.info("The worker has ended.", extra={"fields": {"worker": self.id, "unfinished": left}})
        return left

    def _must_stop(self) -> bool:
        return self._is_stopping or (self._parent is not None and os.getppid() != self._parent)

    def _drain(self) -> int:
        self._is_ending.set()
        deadline = time.monotonic() + GRACE
        while self._running and time.monotonic() < deadline:
            self._wake.wait(POLL)
            self._wake.clear()
        return len(self._running)

    def _step(self) -> None:
        try:
            close_old_connections()
            if connection.connection is None:
                leases.bound_locks(LOCK_TIMEOUT)
            self._dispatch()
        except (DatabaseError, OSError) as error:
            # A full or locked database, or a DATA_DIR that cannot be written: it may be better in a moment.
            connection.close()
            self._say(what_failed(error))
            self._pause = min(2 * self._pause, MAX_PAUSE)
        else:
            self._say(None)
            self._pause = POLL

    def _dispatch(self) -> None:
        if self._data_dir is None:
            data_dir = data_dirs.id_of(self._folder)
            scheduling.install(data_dir)
            self._data_dir = data_dir
        if places := self._places():
            self._start(leases.take_enqueued(self.id, places))
        if places := self._places():
            self._start(leases.claim(self.id, self._data_dir, places))

    def _places(self) -> int:
        now = time.monotonic()
        with self._lock:
            quick = sum(now - since < SLOW for since in self._running.values())
            return max(0, min(self._threads - quick, self._threads * (1 + SLOW_FOR_EACH) - len(self._running)))

    def _start(self, claims: list[Claim]) -> None:
        for claim in claims:
            with self._lock:
                self._running[claim] = time.monotonic()
            threading.Thread(target=self._perform, args=(claim,), name=claim.name, daemon=True).start()

    def _perform(self, claim: Claim) -> None:
        error: BaseException | None = None
        try:
            with leases.held(claim):
                call(claim)
        except BaseException as raised:  # a thread has nobody else to tell
            error = raised
            log_failure(claim, raised)
        finally:
            connections.close_all()  # of this thread; also a transaction that a task left open
        try:
            self._write_end(claim, error)
        finally:
            with self._lock:
                del self._running[claim]
            self._wake.set()

    def _write_end(self, claim: Claim, error: BaseException | None) -> None:
        for pause in WRITE_AGAIN:
            if pause and self._is_ending.wait(pause):
                break  # the worker's end waits for no lock: the lease ends without it
            try:
                leases.bound_locks(LOCK_TIMEOUT)
                leases.fail(claim, error) if error else leases.succeed(claim)
            except DatabaseError as problem:
                said = what_failed(problem)
            else:
                return
            finally:
                connections.close_all()
        log.warning("How a run ended was not written.", extra={"fields": {"schedule": claim.name, "database": said}})

    def _keep(self) -> None:
        """Renews the leases of all that runs."""
        lost: set[uuid.UUID] = set()
        while not self._is_done.wait(leases.RENEW_EVERY):
            with self._lock:
                running = dict(self._running)
            now = time.monotonic()
            ours = {claim.result.pk: claim for claim, since in running.items() if claim.schedule}
            held = {claim.result.pk for claim, since in running.items() if now - since < leases.MAX_RUN} & set(ours)
            try:
                gone = leases.renew(held - lost) if held - lost else set()
            except DatabaseError:
                continue  # the thread that claims says so
            finally:
                connections.close_all()
            for lease in gone:
                log.warning("A lease was lost.", extra={"fields": {"schedule": ours[lease].name}})
            lost |= gone

    def _say(self, problem: str | None) -> None:
        """One line for each change."""
        if problem == self._problem:
            return
        self._problem = problem
        if problem:
            log.error("The worker waits for its database.", extra={"fields": {"error": problem}})
        else:
            log.info("The worker goes on.")


def call(claim: Claim) -> None:
    arguments = claim.result.args_kwargs
    result = cast(TaskResult[Any], claim.result.task_result)
    context = (TaskContext(task_result=result),) if claim.task.takes_context else ()
    claim.task.call(*context, *arguments["args"], **arguments["kwargs"])


def log_failure(claim: Claim, error: BaseException) -> None:
    """An error that has a sentence for operators is told by it; of any other, where it was raised, never its words."""
    fields: dict[str, Any] = {"schedule": claim.name, "error": leases.name_of(error)}
    if sentence := getattr(error, "sentence", None):
        log.warning("A task failed: %s", sentence, extra={"fields": fields})
        return
    frames = traceback.extract_tb(error.__traceback__)
    fields["at"] = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    log.error("A task failed.", extra={"fields": fields})
