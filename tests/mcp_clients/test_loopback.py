"""The programs that these tests start stay on this machine."""

import subprocess
from pathlib import Path

import pytest

from tests.oauthmcp.clients.node import NODE, environment
from tests.patience import patience


@pytest.mark.parametrize("way", ["fetch('http://192.0.2.1/')", "require('node:tls').connect(443, 'example.com')"])
def test_whoever_wants_to_leave_this_machine_is_ended(tmp_path: Path, way: str) -> None:
    ended = subprocess.run(
        [NODE, "-e", way], env=environment(tmp_path), capture_output=True, text=True, timeout=patience(), check=False
    )
    assert ended.returncode == 97
    assert "Refused to connect to" in ended.stderr
