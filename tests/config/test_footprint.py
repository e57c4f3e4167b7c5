"""How much memory preloaded workers take before they keep answers."""

from pathlib import Path

import pytest

from benchmarks.servers import children_of, memory_of
from tests.config.server import LOCAL, gunicorn

pytestmark = [pytest.mark.soak, pytest.mark.process]

RSS, PSS = 105, 65  # MiB of a worker: what it uses, and the same with what workers share counted in part


def test_two_preloaded_workers_share_most_of_what_they_take(data_dir: Path):
    env = LOCAL | {"DATA_DIR": str(data_dir), "LOCAL_DEV_ORG": "acme", "RATE_LIMITS": "off", "ANSWER_CACHE_MIB": "0"}
    with gunicorn(env | {"WEB_CONCURRENCY": "2"}) as server:
        server.line(lambda line: "Booting worker" in line)  # the second
        for _ in range(40):
            assert server.call(body=b'{"limit":100}').status == 200
        memory = [memory_of(pid) for pid in children_of(server.process.pid)]
    assert len(memory) == 2
    assert max(worker["rss"] for worker in memory) <= RSS
    assert max(worker["pss"] for worker in memory) <= PSS
