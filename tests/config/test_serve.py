"""What `make run` ends with: a demo that answers, and one block that tells how to ask it."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from apps.tools.registry import TOOLS
from tests.config.server import LOCAL, free_port, start
from tests.patience import patience

pytestmark = pytest.mark.process


def workers(folder: Path) -> list[str]:
    """Command lines of workers with this DATA_DIR."""
    wanted = f"DATA_DIR={folder}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes()
            if b"\0worker\0" in words and wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append(words.decode())
    return found


@pytest.fixture(scope="module")
def demo(databases: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address where it serves, and what it has printed before. Its worker is there, and ends with it.

    The tables are there, as where it was started before: `databases` shows that an empty file is migrated.
    """
    port = free_port()
    folder = tmp_path_factory.mktemp("demo")
    shutil.copy(databases / "empty.sqlite3", folder / "porthole.sqlite3")
    process = start("bin/serve.py", env=LOCAL | {"DATA_DIR": str(folder), "PORT": str(port), "WEB_CONCURRENCY": "1"})
    assert process.stdout
    try:
        printed = ""
        for line in process.stdout:
            printed += line
            if line.startswith("Ctrl-C"):
                break
        deadline = time.monotonic() + patience()
        while not workers(folder):  # its command line is there a moment after it has begun
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield f"http://localhost:{port}", printed
    finally:
        process.terminate()
        try:
            process.communicate(timeout=patience())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        assert workers(folder) == []  # communicate() has waited for it: it writes to the same streams


def test_it_prints_one_address_the_sign_in_a_ready_curl_line_and_the_mcp_address(demo: tuple[str, str]) -> None:
    address, printed = demo
    assert f"Porthole is ready: {address}\n" in printed
    assert f" {address}/admin/    demo@porthole.test / porthole-demo\n" in printed
    assert f" {address}/mcp " in printed
    assert set(re.findall(r"https?://[^/\s]+", printed)) == {address}


def test_the_curl_line_works_as_printed(demo: tuple[str, str]) -> None:
    (line,) = re.findall(r"curl .*", demo[1])
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=patience(), check=True)
    assert "Storefront" in [app["name"] for app in json.loads(done.stdout)["items"]]


def test_the_mcp_address_answers_with_the_tools(demo: tuple[str, str]) -> None:
    (url,) = re.findall(r"\S+/mcp\b", demo[1].partition("docs/mcp.md")[0])
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    headers = {"Authorization": "Bearer porthole-local-dev", "Content-Type": "application/json"}
    with urlopen(Request(url, body, headers), timeout=patience()) as answer:
        assert {tool["name"] for tool in json.load(answer)["result"]["tools"]} == {*TOOLS}
