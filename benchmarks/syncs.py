"""What a sync costs: first, unchanged and with ten changes, by size, and how old facts get at a platform's pace.

    python bin/postgres.py -- python benchmarks/syncs.py

The platform is in memory, so that what is measured is ours: reading takes no time, composing and writing does.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SIZES = (500, 1000, 2500, 5000)
DEPLOYMENTS = 10  # of each application
CHANGED = 10
SECONDS_A_CALL = 0.3
SLUG = "bench-of-syncs"
PACE = 100  # calls a minute: half of 200
# Where every sync notes that it was.
OWN = ("orgs_platform", "orgs_organization", "orgs_dataversion", "platforms_platformconnection")
ROUNDS = 60  # minutes that are simulated


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apps", type=int, help="measure one size in this process, and print JSON")
    chosen = parser.parse_args().apps
    if chosen:
        print(json.dumps(measured(chosen)))
        return
    print(
        f"{'apps':>6} {'first s':>8} {'unchanged s':>12} {'rows':>5} {'10 changed s':>13} {'rows':>5} {'peak MiB':>9}"
    )
    for size in SIZES:
        found = json.loads(subprocess.check_output([sys.executable, __file__, f"--apps={size}"]))
        print(
            f"{size:>6} {found['first']:>8.2f} {found['unchanged']:>12.2f} {found['unchanged_rows']:>5} "
            f"{found['changed']:>13.2f} {found['changed_rows']:>5} {found['peak']:>9.0f}"
        )
    print(f"\nAt {SECONDS_A_CALL} s a call and {2 * PACE} calls a minute, {ROUNDS} minutes:")
    for size in (50, 500):
        found = json.loads(subprocess.check_output([sys.executable, __file__, f"--apps=-{size}"]))
        print(
            f"{size:>6} apps: at most {found['calls']} calls a minute; state every {found['period']} s, read in "
            f"{found['state_seconds']:.0f} s; details at most {found['detail_age']} s old; first sync "
            f"{found['first_seconds'] / 60:.0f} minutes"
        )


def measured(size: int) -> dict[str, Any]:
    """Of an organization that is deleted afterwards. A size below 0: the pace of so many applications."""
    with TemporaryDirectory() as folder:
        os.environ |= {"PORTHOLE_ENV": "local", "DATA_DIR": f"{folder}/data"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        from apps.orgs.models import Organization

        try:
            return costs(size) if size > 0 else ages(-size)
        finally:
            Organization.objects.filter(slug=SLUG).delete()


def costs(size: int) -> dict[str, Any]:
    from tests.platforms.memory import Memory, connected, key_of

    memory, connection = Memory.of(size, deployments=DEPLOYMENTS), connected(SLUG)
    first, _ = timed(connection.pk, memory)
    unchanged, unchanged_rows = timed(connection.pk, memory)
    for number in range(CHANGED):
        memory.change(key_of(number * size // CHANGED), status="error")
    changed, changed_rows = timed(connection.pk, memory)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "first": first, "unchanged": unchanged, "unchanged_rows": unchanged_rows,
        "changed": changed, "changed_rows": changed_rows, "peak": peak,
    }  # fmt: skip


def timed(platform_id: int, memory: Any) -> tuple[float, int]:
    """Seconds of this process, and rows of the organization that were written."""
    from apps.platforms.sync.run import sync_platform
    from tests.platforms.memory import rows_written

    memory.calls_per_minute = 10**9
    began = time.process_time()
    rows = rows_written(lambda: sync_platform(platform_id, connect=lambda _: memory.connector))
    return time.process_time() - began, sum(number for table, number in rows.items() if table not in OWN)


def ages(size: int) -> dict[str, Any]:
    """By a clock that is not real: a sync each period, and each call as slow as it is."""
    from apps.platforms.sync.run import sync_platform
    from tests.platforms.memory import Memory, connected

    memory, connection = Memory.of(size, deployments=DEPLOYMENTS), connected(SLUG)
    memory.calls_per_minute = PACE
    first = sync_platform(connection.pk, connect=lambda _: memory.connector)
    read_at, now, calls, oldest = dict.fromkeys(memory.apps, 0), 0, 0, 0
    for _ in range(ROUNDS):
        now += first.period
        memory.asked.clear()
        outcome = sync_platform(connection.pk, connect=lambda _: memory.connector)
        read_at |= dict.fromkeys(memory.asked, now)
        calls = max(calls, outcome.calls * 60 // outcome.period)
        oldest = max(oldest, now - min(read_at.values()))
    return {
        "calls": calls, "period": first.period, "state_seconds": memory.calls_of_state * SECONDS_A_CALL,
        "detail_age": oldest, "first_seconds": max(first.calls / PACE * 60, first.calls * SECONDS_A_CALL / 4),
    }  # fmt: skip


if __name__ == "__main__":
    main()
