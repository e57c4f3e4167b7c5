"""How many examples Hypothesis tries."""

import os

from hypothesis import settings

# The inputs are the same on both databases, so PostgreSQL's run need not try each of them again.
IS_POSTGRESQL = os.environ.get("DATABASE_URL", "").startswith("postgres")
FACTOR = 10 if os.environ.get("TEST_RUN") == "soak" else 0.1 if IS_POSTGRESQL else 0.25


def examples(number: int = 100) -> settings:
    """A decorator: a quarter of `number`; in make soak ten times it. What else holds: the profile in environment.py."""
    return settings(max_examples=max(1, int(number * FACTOR)))
