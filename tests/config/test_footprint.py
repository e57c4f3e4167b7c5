"""How much memory preloaded workers take before they keep answers."""

import json
from pathlib import Path

import pytest

from benchmarks.servers import children_of, memory_of
from tests.config.server import LOCAL, Server, gunicorn
from tests.tools.mcp.speaking import HEADERS, MODERN_REQUEST

pytestmark = pytest.mark.process

RSS, PSS = 83, 43  # MiB of a worker: what it uses, and the same with what workers share counted in part
LIBRARIES = {"_cffi_backend", "orjson", "_pygit2", "_rust"}  # of packages: Python itself may have its own built in
CALLS = dict.fromkeys(("list_apps", "list_projects", "list_domains", "list_deployments", "get_account"), "{}")
CALLS |= {"search_docs": '{"query": "token"}'}
PAGES = ("/readyz", "/llms.txt", "/api/v1/openapi.json", "/.well-known/oauth-authorization-server")


def libraries(pid: int) -> set[str]:
    """Compiled modules by name, which are as good as any to tell what was imported."""
    mapped = {line.split()[-1] for line in Path(f"/proc/{pid}/maps").read_text().splitlines()}
    return {Path(path).name.partition(".")[0] for path in mapped if path.endswith(".so")}


def test_a_worker_imports_nothing_that_its_arbiter_has_not_for_all_to_share(local_server: Server) -> None:
    arbiter = local_server.process.pid
    everything(local_server, 1)
    (worker,) = children_of(arbiter)
    assert libraries(arbiter) >= LIBRARIES
    assert libraries(worker) == libraries(arbiter)
    assert "_pycurl" not in libraries(arbiter)  # what talks to platforms and probes is for other processes


def everything(server: Server, times: int) -> None:
    for _ in range(times):
        for tool, body in CALLS.items():
            assert server.call(f"/api/v1/tools/{tool}", body=body.encode()).status == 200
        assert server.call("/mcp", body=json.dumps(MODERN_REQUEST).encode(), **HEADERS).status == 200
        for page in PAGES:
            assert server.call(page, method="GET", body=b"", token=None).status == 200


@pytest.mark.soak
def test_two_preloaded_workers_share_most_of_what_they_take(data_dir: Path) -> None:
    env = LOCAL | {"DATA_DIR": str(data_dir), "LOCAL_DEV_ORG": "acme", "RATE_LIMITS": "off", "ANSWER_CACHE_MIB": "0"}
    with gunicorn(env | {"WEB_CONCURRENCY": "2"}) as server:
        server.line(lambda line: "Booting worker" in line)  # the second
        everything(server, 20)
        memory = [memory_of(pid) for pid in children_of(server.process.pid)]
    assert len(memory) == 2
    assert max(worker["rss"] for worker in memory) <= RSS
    assert max(worker["pss"] for worker in memory) <= PSS
