"""make audit: what a database of vulnerabilities was not asked about is never told as good."""

import json
from pathlib import Path
from typing import Any

import pytest

from bin import audit

GOOD = {"dependencies": [{"name": "django", "version": "5.2.19", "vulns": []}]}
BAD = {"dependencies": [{"name": "django", "version": "3.2.0", "vulns": [{"id": "PYSEC-2021-1"}]}]}
SKIPPED = {"dependencies": [{"name": "django", "skip_reason": "Dependency not found"}]}
NPM_GOOD = {"auditReportVersion": 2, "vulnerabilities": {}}
NPM_BAD = {"auditReportVersion": 2, "vulnerabilities": {"left-pad": {"severity": "high"}}}


def answering(python: Any, npm: Any) -> Any:
    """Stands for the two programs: one writes a report, the other says it."""

    def run(command: list[Any]) -> bytes:
        report = next((str(part).removeprefix("--output=") for part in command if "--output=" in str(part)), None)
        if report is None:
            return npm if isinstance(npm, bytes) else json.dumps(npm).encode()
        if python is not None:
            Path(report).write_text(json.dumps(python))
        return b""

    return run


@pytest.mark.parametrize(
    ("python", "npm", "code", "told"),
    [
        (GOOD, NPM_GOOD, 0, ["Python: no known", "npm: no known"]),
        (BAD, NPM_GOOD, 1, ["django 3.2.0: PYSEC-2021-1"]),
        (GOOD, NPM_BAD, 1, ["left-pad: high"]),
        (SKIPPED, NPM_GOOD, 2, ["Python: NOT CHECKED"]),
        (None, NPM_GOOD, 2, ["Python: NOT CHECKED"]),
        ({"dependencies": []}, NPM_GOOD, 2, ["Python: NOT CHECKED"]),
        (GOOD, {"error": {"code": "ENOTFOUND"}}, 2, ["npm: NOT CHECKED"]),
        (GOOD, b"npm error audit endpoint returned an error", 2, ["npm: NOT CHECKED"]),
        (BAD, b"", 1, ["npm: NOT CHECKED", "PYSEC-2021-1"]),
    ],
)
def test_only_what_was_checked_and_is_clean_ends_with_zero(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    python: Any,
    npm: Any,
    code: int,
    told: list[str],
) -> None:
    monkeypatch.setattr(audit, "run", answering(python, npm))
    assert audit.main() == code
    output = capsys.readouterr().out
    assert all(words in output for words in told)
