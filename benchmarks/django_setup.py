"""Django with the settings that Porthole is measured with, and a folder of its own for what is no row."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def set_up() -> Iterator[None]:
    """Also for the processes that are started inside."""
    from benchmarks.variants import LOCAL

    with TemporaryDirectory(prefix="porthole-bench-") as folder:
        (Path(folder) / "static").mkdir(mode=0o700)
        os.environ |= LOCAL | {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "config.settings"}
        os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder}/porthole.sqlite3")
        import django

        django.setup()
        yield
