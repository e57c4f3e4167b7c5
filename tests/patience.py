"""How long a test waits for a program, a page or a thread before it fails: the longer, the busier the machine is."""

import os

# Waiting costs nothing where all is well, so even an idle machine is given more than it needs.
FACTOR = float(os.environ.get("TEST_PATIENCE", "3"))


def patience(seconds: float = 20.0) -> float:
    """`seconds` are what an idle machine would never need. TEST_PATIENCE is the factor for a slow one."""
    return seconds * FACTOR * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
