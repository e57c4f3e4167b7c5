"""What an installation needs before it serves: tables and static files, each made only when it is due."""

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

LOCK = 0x706F7274  # any number that nobody else locks in this database


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Of several that prepare the same installation, on one machine or on many, one works and the others wait."""
    with (settings.DATA_DIR / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _alone_in_the_database():
            yield


@contextmanager
def _alone_in_the_database() -> Iterator[None]:
    """PostgreSQL serves many machines. The lock is a transaction's, so that poolers of connections let it go too."""
    if connection.vendor != "postgresql":
        yield
        return
    other = connection.copy()
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        yield
    finally:
        other.close()


def due_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def migrate() -> None:
    call_command("migrate", verbosity=0, interactive=False)


def collect_static_files() -> bool:
    """Whether they had to be: the sources changed, or nothing was collected yet."""
    digest, stamp = _digest_of_sources(), settings.STATIC_ROOT / ".sources"
    is_whole = (settings.STATIC_ROOT / "staticfiles.json").exists() and stamp.exists()
    if is_whole and stamp.read_text() == digest:
        return False
    call_command("collectstatic", verbosity=0, interactive=False)
    stamp.write_text(digest)
    return True


def _digest_of_sources() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda found: str(found[0])):
            with storage.open(path) as file:
                digest.update(f"{path}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
