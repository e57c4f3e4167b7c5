"""Asks the server of this machine whether it is ready, for the image's health check: `python -m config.ready`."""

import os
import sys
import urllib.error
import urllib.request

PATIENCE = 6  # seconds; /readyz waits less than 5 for the database


def main() -> None:
    """Exit status 0 when /readyz says so; else 1, and why."""
    port = os.environ.get("PORT") or "8000"
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=PATIENCE) as answer:
            print(answer.read().decode().strip())  # noqa: T201  (the engine keeps it)
    except urllib.error.HTTPError as error:
        sys.exit(error.read().decode().strip())
    except OSError as error:
        sys.exit(f"no answer: {error}")


if __name__ == "__main__":
    main()
