"""Runs a script with Django set up and its clock stopped, in whichever checkout PYTHONPATH names.

Run as `python clock.py script.py ARGUMENTS`.
"""

import os
import runpy
import sys
from datetime import UTC, datetime

import django
from django.utils import timezone

# The day from which the demo's times are told: nothing of it is moved.
MOMENT = datetime(2026, 6, 1, 12, tzinfo=UTC)

if __name__ == "__main__":
    timezone.now = lambda: MOMENT  # before anything imports it by name
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
