"""Mirrors that are asked for are kept fresh by workers, so that their next caller gets no old answer."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from apps.sources.git.mirrors import Mirror
from apps.sources.git.recency import asked_lately
from apps.web.exceptions import InvalidInput

AT_ONCE = 4  # a silent host holds one of them, for at most upstream.FETCH_LIMIT


def refresh_mirrors(data_dir: Path) -> int:
    """Fetches what is not fresh any more; how many refs those were. What fails is in the log and in its stamp."""
    due = sorted(_due(data_dir), key=lambda found: found[0])
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="refresh") as pool:
        list(pool.map(lambda found: found[1].refresh(found[2]), due))
    return len(due)


def _due(data_dir: Path) -> list[tuple[float, Mirror, str]]:
    """When it was last tried, the mirror, the ref."""
    found = []
    for asked in asked_lately(data_dir / "mirrors"):
        try:
            mirror = Mirror(asked.url, asked.key)
        except InvalidInput:  # this release fetches no such address
            continue
        known = mirror.known(asked.ref)
        if known and not known[1].is_fresh:
            found.append((known[1].tried_at, mirror, asked.ref))
    return found
