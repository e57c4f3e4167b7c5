"""How gunicorn serves Porthole: `gunicorn -c config/gunicorn.conf.py config.wsgi`."""

import socket
import sys
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# The line above makes these importable from any folder.
from apps.net.addresses import is_loopback
from apps.web.server import memory, signals
from config.env import Env

env = Env()
try:
    is_local = env.choice("PORTHOLE_ENV", ("local", "preview", "production"), default="production") == "local"
    port = env.integer("PORT", 8000, low=1, high=65535)
    workers = env.integer("WEB_CONCURRENCY", 2, low=1, high=64)
except ImproperlyConfigured as error:
    sys.exit(f"Porthole does not start: {error}")


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


bind = [f"127.0.0.1:{port}"] if is_local else [f"0.0.0.0:{port}"]
if _has_ipv6():
    bind = [*bind, f"[::1]:{port}"] if is_local else [f"[::]:{port}"]

worker_class = "apps.web.server.worker.Worker"
logger_class = "apps.web.server.logs.JsonLogger"
threads = 4
worker_connections = 400  # who waits longest is dropped for the next one; two files each, of the 1024 that are usual
preload_app = True
control_socket_disable = True
max_requests = 20_000
max_requests_jitter = 2_000
timeout = 60
graceful_timeout = 20
keepalive = 5
limit_request_line = 8190
limit_request_fields = 60
accesslog = None  # apps.web.middleware writes one JSON line a request
loglevel = "warning"
# Whom to believe about the client is TRUSTED_PROXIES, and only apps.web.middleware decides it.
forwarded_allow_ips = ""
if Path("/dev/shm").is_dir():  # noqa: S108  (a heartbeat file on a slow disk would stall workers)
    worker_tmp_dir = "/dev/shm"  # noqa: S108


PATIENCE = 10  # seconds that a client has for a whole request
# Bytes, which Linux doubles: any JSON answer fits, and who asks without reading is soon left alone.
SEND_BUFFER = 128 * 1024


def when_ready(server: Any) -> None:
    """Sockets are open, no worker runs yet: the last moment to refuse being reached from outside in local."""
    hosts = [listener.sock.getsockname()[0] for listener in server.LISTENERS if listener.sock.family != socket.AF_UNIX]
    if is_local and not all(map(is_loopback, hosts)):
        sys.exit("Porthole does not start: PORTHOLE_ENV is local, so it may only be bound to a loopback address.")
    for listener in server.LISTENERS:  # connections inherit it
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    signals.install(server)
    memory.keep_little()


def post_worker_init(worker: Any) -> None:
    worker.patience = PATIENCE


def child_exit(server: Any, worker: Any) -> None:
    worker.share.close()
