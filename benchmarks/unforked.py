"""gunicorn with its one worker in its own process: callgrind takes no commands for a process that was forked."""

import os
from types import SimpleNamespace
from typing import Any

from gunicorn import arbiter
from gunicorn.app.wsgiapp import run

if __name__ == "__main__":
    its_os: Any = SimpleNamespace(**vars(os) | {"fork": lambda: 0})  # it goes on as the worker; others may fork
    arbiter.os = its_os
    os.getppid = os.getpid  # its arbiter lives
    run()
