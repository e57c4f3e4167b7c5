"""How many examples Hypothesis tries."""

import os

from hypothesis import settings

FACTOR = 10 if os.environ.get("TEST_RUN") == "soak" else 1


def examples(number: int = 100) -> settings:
    """A decorator: `number`, and many more in make soak. What else holds is in the profile, in environment.py."""
    return settings(max_examples=number * FACTOR)
