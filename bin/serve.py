"""The second half of `make run`: database, static files, demo, docs index, one friendly block, a worker, the server."""

import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVER_CONFIG = ROOT / "config" / "gunicorn.conf.py"
sys.path.insert(0, str(ROOT))
os.environ["PORTHOLE_ENV"] = "local"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django  # noqa: E402  (it is found in .venv, its settings in the lines above)
from django.core.exceptions import ImproperlyConfigured  # noqa: E402
from django.core.management import CommandError, call_command  # noqa: E402
from django.db import DatabaseError, connections  # noqa: E402
from preflight import listen  # noqa: E402

WELCOME = """
Porthole is ready: {address}

  Read and try   {address}/api/v1/docs
  Operate        {address}/admin/    {email} / {password}
  Agents (MCP)   {address}/mcp    docs/mcp.md tells how to connect one
  Ask            curl -sX POST {address}/api/v1/tools/list_apps -H 'Authorization: Bearer {bearer}'

Ctrl-C stops it.
"""


def main() -> None:
    start()


def start(before: Callable[[], None] = lambda: None) -> None:
    """`before` is called when the database is ready."""
    try:
        django.setup()
        prepare()
        before()
        connections.close_all()
        welcome = greeting()
    except (ImproperlyConfigured, CommandError) as error:
        sys.exit(f"Porthole does not start: {error}")
    except DatabaseError as error:
        sys.exit(f"Porthole does not start: the database that DATABASE_URL names cannot be used. {error}")
    serve(welcome)


def prepare() -> None:
    from apps.sources.docs import corpus
    from config.checks import refuse_bad_settings, settings_rules

    for problem in settings_rules():  # before the demo and its known password reach a database
        raise ImproperlyConfigured(problem.msg)
    print("Preparing the database, the demo and the docs index ...", flush=True)
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
    with Path(os.devnull).open("w") as silence:
        call_command("load_demo", stdout=silence)
    corpus.prepare()
    refuse_bad_settings()  # those that need rows
    connections.close_all()


def greeting() -> str:
    from django.conf import settings

    return WELCOME.format(
        address=settings.PUBLIC_URL,
        email=settings.DEMO_EMAIL,
        password=settings.DEMO_PASSWORD,
        bearer=settings.LOCAL_DEV_BEARER,
    )


def serve(welcome: str) -> None:
    """Become gunicorn. The sockets are open already, so the address answers from the moment that it is printed."""
    listeners = listen(runpy.run_path(str(SERVER_CONFIG))["bind"])
    for listener in listeners:
        listener.set_inheritable(True)
    os.chdir(ROOT)
    start_worker()
    print(welcome, flush=True)
    binds = [f"--bind=fd://{listener.fileno()}" for listener in listeners]
    os.execv(sys.executable, [sys.executable, "-m", "gunicorn", "-c", str(SERVER_CONFIG), *binds, "config.wsgi"])  # noqa: S606


def start_worker() -> None:
    """Beside the server, which this process becomes; the worker ends with it, by whatever signal."""
    subprocess.Popen([sys.executable, "manage.py", "worker", "--parent", str(os.getpid())])


if __name__ == "__main__":
    main()
