"""Says in one sentence what stops `make run`, before anything is installed: standard library only."""

import errno
import os
import socket
import sys


def main() -> None:
    env, port = os.environ.get("PORTHOLE_ENV") or "local", os.environ.get("PORT") or "8000"
    if env != "local":
        sys.exit(
            f"make run is for PORTHOLE_ENV=local, and here it is {env}: it loads a demo with a known password. "
            "Elsewhere, serve with gunicorn -c config/gunicorn.conf.py config.wsgi."
        )
    # A port named in a file, or no number at all, is for the settings to read and to refuse.
    if not os.environ.get("PORT_FILE") and port.isdecimal() and 0 < int(port) < 65536:
        for listener in listen([f"127.0.0.1:{port}", f"[::1]:{port}"]):
            listener.close()


def listen(addresses: list[str]) -> list[socket.socket]:
    """Open sockets for `host:port` addresses. A machine without IPv6 goes without."""
    return [listener for address in addresses if (listener := _listen(*address.rsplit(":", 1)))]


def _listen(host: str, port: str) -> socket.socket | None:
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), int(port)), family=family, backlog=2048)
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return None
        reason = "is taken" if error.errno == errno.EADDRINUSE else "cannot be opened"
        sys.exit(f"Porthole does not start: port {port} {reason}. Choose another: PORT=8001 make run")


if __name__ == "__main__":
    main()
