"""gunicorn with its one worker in its own process: callgrind takes no commands for a process that was forked."""

import os

from gunicorn.app.wsgiapp import run

if __name__ == "__main__":
    os.fork = lambda: 0  # gunicorn goes on as the worker
    os.getppid = os.getpid  # its arbiter lives
    run()
