"""What tests of signing in share: mail that is sent at once, and a clock for codes."""

from dataclasses import dataclass
from threading import Thread

import pytest
from allauth.mfa.totp.internal import auth


@dataclass
class Clock:
    step: int = 57_000_000


@pytest.fixture(autouse=True)
def mail_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.accounts.mail.start", Thread.run)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The 30 seconds that codes are for; they pass when a test says so."""
    clock = Clock()
    monkeypatch.setattr(auth, "yield_hotp_counters_from_time", lambda: iter([clock.step]))
    return clock
