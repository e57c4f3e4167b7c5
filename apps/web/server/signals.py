"""What gunicorn's arbiter does on SIGHUP and SIGTERM, and when its workers begin to hear the latter."""

import ctypes
import errno
import signal
import socket
import struct
import sys
from typing import Any

SO_ATTACH_FILTER = 26  # linux/socket.h; Python has no name for it
# Classic BPF, on what begins with the TCP header: drops what asks for a new connection (SYN without ACK).
NO_NEW_CONNECTIONS = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (0x30, 0, 0, 13),  # load the flags
        (0x54, 0, 0, 0x12),  # keep SYN and ACK
        (0x15, 0, 1, 0x02),  # SYN alone?
        (0x06, 0, 0, 0),  # drop it
        (0x06, 0, 0, 0xFFFFFFFF),  # let all else pass
    )
)


def install(arbiter: Any) -> None:
    stop, spawn = arbiter.handle_term, arbiter.spawn_worker

    def handle_term() -> None:
        """Whoever is not connected yet is not any more; workers answer the others (worker.py's drain)."""
        # After SIGUSR2 another arbiter serves on the same sockets, and systemd keeps those that it opened.
        if not (arbiter.reexec_pid or arbiter.master_pid or arbiter.systemd):
            for listener in arbiter.LISTENERS:
                refuse_connections(listener)
        stop()

    def handle_hup() -> None:
        arbiter.log.warning(
            "SIGHUP is ignored: workers share the code that was loaded at the start. Restart instead (SIGTERM, then "
            "start again), or SIGUSR2 and then SIGTERM."
        )

    def spawn_worker() -> int:
        """A new worker hears SIGTERM when it knows what to do: before, it would be lost, and the worker go on."""
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            return int(spawn())  # in the worker this does not return
        finally:
            hear_sigterm()

    arbiter.handle_term, arbiter.handle_hup, arbiter.spawn_worker = handle_term, handle_hup, spawn_worker


def hear_sigterm() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def refuse_connections(listener: Any) -> None:
    """Makes a listening socket deaf to new clients, in every process; those in its queue can still be accepted.

    Without it, who connects between the last accept and the close is reset. Clients try again a second later, and
    find nobody listening then.
    """
    if sys.platform != "linux" or listener.family == socket.AF_UNIX:
        return
    program = ctypes.create_string_buffer(NO_NEW_CONNECTIONS)
    packed = struct.pack("HP", len(NO_NEW_CONNECTIONS) // 8, ctypes.addressof(program))
    try:
        listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, packed)
    except OSError as error:  # a sandbox without filters
        if error.errno not in (errno.ENOPROTOOPT, errno.EPERM, errno.EINVAL):
            raise
