"""gunicorn's worker: one loop reads requests and sends answers for all clients, and threads only make the answers."""

import errno
import selectors
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from gunicorn.http.errors import NoMoreData
from gunicorn.workers.gthread import ThreadWorker

from apps.web.server.connection import Connection
from apps.web.server.incoming import Incoming
from apps.web.server.load import GIVING_WAY, NO_MORE, Share
from apps.web.server.signals import hear_sigterm

READ = 64 * 1024
SENDING = 60.0  # seconds for a whole answer
CLOSING = 2.0  # seconds in which a client may still hear the end of its answer (RFC 9112 §9.6)
STOPPING = 0.5  # seconds in which a stopping worker answers who was about to connect
TICK = 0.25  # seconds between two looks at the deadlines
MAX_UNSENT = 32 * 1024 * 1024  # bytes of answers that wait for slow readers
# A worker whose threads are all busy leaves new clients to the others for a moment, and then takes some.
BUSY_PAUSE = 0.01
BUSY_BATCH = 16

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
REFUSAL = b"HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
TOO_SLOW = b"408 Request Timeout"
TOO_LONG = b"431 Request Header Fields Too Large"

Step = Callable[[Connection], None]


class Worker(ThreadWorker):
    """`patience` is how many seconds a client has for a whole request. gunicorn.conf.py sets it."""

    patience = 10.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Those that wait for their client, and what is done when it is too late; who waits longest comes first.
        self.waiting: dict[Connection, Step] = {}
        self.sockets: list[Any] = self.sockets
        self.busy = 0  # requests that wait for a thread or have one
        self.accept_at = 0.0
        self.sweep_at = 0.0
        self.share = Share()
        self.is_in_a_hurry = False

    def handle_quit(self, sig: int, frame: Any) -> None:
        """SIGINT and SIGQUIT: ends without waiting for answers that are still made.

        Ctrl-C sends the one to all processes, and gunicorn's arbiter the other a moment later. gunicorn's own handler
        takes a lock of its threads, which the first of the two may still hold: then it would hang, and be killed.
        """
        self.is_in_a_hurry = True
        self.handle_exit(sig, frame)

    def init_signals(self) -> None:
        super().init_signals()
        hear_sigterm()

    def run(self) -> None:
        self.poller.register(self.method_queue.fileno(), selectors.EVENT_READ, self.method_queue.run_callbacks)
        while self.alive and self.is_parent_alive():
            self.turn()
        self.drain()

    def turn(self) -> None:
        self.notify()
        now = time.monotonic()
        is_free = self.busy < self.cfg.threads
        waits = self.share.waits(now)
        self.set_accept_enabled(self.has_room() and not waits and (is_free or now >= self.accept_at))
        pause = TICK if self._accepting or is_free else BUSY_PAUSE
        self.wait_for_and_dispatch_events(GIVING_WAY if waits else pause)
        if now >= self.sweep_at:
            self.sweep_at = now + TICK
            self.sweep(now)

    def drain(self) -> None:
        """Answers everybody who is connected or was about to be, each with `Connection: close`, and ends."""
        self.alive = False
        self.share.note(NO_MORE)
        grace = 0 if self.is_in_a_hurry else self.cfg.graceful_timeout
        last_call, latest = time.monotonic() + STOPPING, time.monotonic() + grace
        for connection in [found for found in self.waiting if found.is_silent]:
            connection.deadline = min(connection.deadline, time.monotonic() + CLOSING)
        while time.monotonic() < last_call:
            self.turn()
        self.set_accept_enabled(False)
        for listener in self.sockets:
            while self.accept_one(listener):
                pass
            listener.close()
        self.sockets = []
        while self.nr_conns and time.monotonic() < latest:
            self.turn()
        self.tpool.shutdown(wait=False)

    def has_room(self) -> bool:
        return bool(self.sockets) and (self.nr_conns < self.worker_connections or bool(self.waiting))

    # Clients come

    def accept(self, listener: Any) -> None:
        if self.alive and self.share.gives_way(time.monotonic()):
            return
        if self.busy < self.cfg.threads:
            self.accept_one(listener)
            return
        self.accept_at = time.monotonic() + BUSY_PAUSE
        for _ in range(BUSY_BATCH):
            if not self.accept_one(listener):
                break

    def accept_one(self, listener: Any) -> bool:
        """Whether there was one."""
        try:
            connected, client = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self.evict()
            elif error.errno not in (errno.EAGAIN, errno.ECONNABORTED):
                raise
            return error.errno == errno.ECONNABORTED
        if self.nr_conns >= self.worker_connections:
            self.evict()
        connection = Connection(connected, client, listener.getsockname())
        self.count(1)
        connection.may_wait(self.patience)
        self.read(connection)
        return True

    def evict(self) -> None:
        """Drops who waits longest, so that many who send nothing lock nobody out."""
        if self.waiting:
            self.drop(next(iter(self.waiting)))

    # Requests come

    def read(self, connection: Connection) -> None:
        try:
            data = connection.socket.recv(READ)
        except BlockingIOError:
            self.wait_for(connection, selectors.EVENT_READ, self.read, self.too_slow)
            return
        except OSError:
            self.drop(connection)
            return
        if connection.is_silent and connection.is_used:  # the next request begins
            connection.may_wait(self.patience)
            self.waiting[connection] = self.waiting.pop(connection)
        connection.incoming.feed(data)
        connection.has_ended = not data
        self.look(connection)

    def look(self, connection: Connection) -> None:
        """Goes on with what has come."""
        incoming = connection.incoming
        if connection.has_ended and connection.is_silent:
            self.drop(connection)
        elif incoming.is_complete() or connection.has_ended:
            self.submit(connection)
        elif incoming.is_too_long:
            self.refuse(connection, TOO_LONG)
        else:
            if incoming.expects_continue:
                incoming.expects_continue = False
                connection.say(CONTINUE)
            self.wait_for(connection, selectors.EVENT_READ, self.read, self.too_slow)

    def too_slow(self, connection: Connection) -> None:
        if connection.is_silent:
            self.drop(connection)
        else:
            self.refuse(connection, TOO_SLOW)

    def refuse(self, connection: Connection, status: bytes) -> None:
        connection.say(REFUSAL % status)
        self.end(connection)

    # Answers are made

    def submit(self, connection: Connection) -> None:
        self.stop_waiting(connection)
        self.busy += 1
        if connection.asks_for_liveness:  # nothing that could hang, so also when every thread does
            future: Future[bool] = Future()
            future.set_result(self.handle(connection))
        else:
            future = self.tpool.submit(self.handle, connection)
        future.add_done_callback(lambda done: self.method_queue.defer(self.finish_request, connection, done))

    def handle(self, connection: Connection) -> bool:
        """In a thread: writes the answer to the connection's outbox. Whether another request may follow."""
        request, may_follow = None, False
        try:
            parser = connection.parser(self.cfg)
            request = next(parser)
            request._expected_100_continue = False  # the loop has said it, unless the body is not wanted
            if connection.must_close:
                request.force_close()
            may_follow = self.handle_request(request, connection) and parser.finish_body()
            connection.incoming = Incoming(parser.unreader.take_buffered())
            connection.sock.flush()
        except (StopIteration, NoMoreData):
            pass
        except OSError as error:
            self.log.debug("A client has gone: %s", error)
        except Exception as error:
            self.handle_error(request, connection.sock, connection.client, error)
        return may_follow

    # Answers go

    def finish_request(self, connection: Connection, done: "Future[bool]") -> None:
        self.busy -= 1
        connection.is_used = True
        connection.may_wait(SENDING)
        self.send(connection, may_follow=done.result())

    def send(self, connection: Connection, *, may_follow: bool) -> None:
        try:
            is_sent = connection.sock.flush()
        except OSError:
            self.drop(connection)
            return
        if not is_sent:
            self.wait_for(connection, selectors.EVENT_WRITE, partial(self.send, may_follow=may_follow), self.give_up)
        elif may_follow:
            pause = self.cfg.keepalive if self.alive else CLOSING
            connection.may_wait(pause if connection.is_silent else self.patience)
            self.look(connection)
        else:
            self.end(connection)

    def give_up(self, connection: Connection) -> None:
        self.drop(connection)

    def end(self, connection: Connection) -> None:
        """Closes it so that the client can still read all of its answer, whatever it goes on to send."""
        if connection.has_ended or not connection.end_sending():
            self.drop(connection)
        else:
            connection.may_wait(CLOSING)
            self.wait_for(connection, selectors.EVENT_READ, self.ignore, self.drop)

    def ignore(self, connection: Connection) -> None:
        try:
            has_ended = not connection.socket.recv(READ)
        except OSError:
            has_ended = True
        if has_ended:
            self.drop(connection)

    # Clients wait, and go

    def wait_for(self, connection: Connection, events: int, step: Step, when_late: Step) -> None:
        if connection not in self.waiting:
            self.poller.register(connection.socket, events, partial(self.go_on, connection, step))
        elif self.waiting[connection] != when_late:  # each step has its own
            self.poller.modify(connection.socket, events, partial(self.go_on, connection, step))
        self.waiting[connection] = when_late

    def go_on(self, connection: Connection, step: Step, _: Any) -> None:
        if connection in self.waiting:  # else it was dropped after the poller had seen it
            step(connection)

    def stop_waiting(self, connection: Connection) -> None:
        if self.waiting.pop(connection, None):
            self.poller.unregister(connection.socket)

    def sweep(self, now: float) -> None:
        for connection, when_late in list(self.waiting.items()):
            if connection.deadline <= now:
                when_late(connection)
        unsent = {connection: connection.sock.memory for connection in self.waiting}
        while sum(unsent.values()) > MAX_UNSENT:
            slowest = next(connection for connection, memory in unsent.items() if memory)
            del unsent[slowest]
            self.drop(slowest)

    def drop(self, connection: Connection) -> None:
        self.stop_waiting(connection)
        self.count(-1)
        connection.close()

    def count(self, change: int) -> None:
        self.nr_conns += change
        if self.alive:
            self.share.note(self.nr_conns)
