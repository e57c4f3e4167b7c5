"""Serves the suite's fixtures with a token in front, for one scenario by hand: test_server.py says how."""

import os
import signal
from threading import Thread

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402

from tests.conformance.proxy import proxy_to  # noqa: E402

settings.ROOT_URLCONF = "tests.conformance.urls"
server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
server.set_app(get_wsgi_application())
Thread(target=server.serve_forever, daemon=True).start()
with proxy_to(f"http://127.0.0.1:{server.server_port}", settings.LOCAL_DEV_BEARER) as address:
    print(f"{address}/mcp", flush=True)  # noqa: T201
    signal.pause()
