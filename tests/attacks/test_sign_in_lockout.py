"""Somebody keeps failing for an account that is not theirs: its owner signs in all the same."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.attacks.visiting import Browser, attacked

ATTACKERS = ("192.0.2.1", "198.51.100.2", "2001:db8:bad::3", "192.0.2.4")
MAX_WAIT = 30


@pytest.mark.soak  # twenty real password hashes; tests/accounts/test_attempts.py has each rule
def test_an_attacker_at_a_few_addresses_locks_no_owner_out(databases: Path, tmp_path: Path) -> None:
    with attacked(databases, tmp_path) as server:
        known = Browser(server, "203.0.113.9")
        assert known.sign_in().status_code == 302
        known.post("/account/logout/", data=known.form(known.get("/account/logout/")).fields)
        assert not known.is_signed_in()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda address: fail(Browser(server, address)), ATTACKERS))

        assert known.sign_in().status_code == 302
        new = Browser(server, "203.0.113.10")
        told_to_wait = new.sign_in()
        assert told_to_wait.status_code == 429
        wait = int(told_to_wait.headers["Retry-After"])
        assert wait <= MAX_WAIT
        time.sleep(wait)  # as the server asks
        fail(Browser(server, ATTACKERS[0]), 1)
        assert new.sign_in().status_code == 302
        assert new.is_signed_in()


def fail(attacker: Browser, times: int = 6) -> None:
    for number in range(times):
        port = f":{40_000 + number}"  # some proxies tell it, and it changes with every connection
        host = f"[{attacker.address}]" if ":" in attacker.address else attacker.address
        attacker.session.headers["X-Forwarded-For"] = f"unknown, {host}{port}"
        attacker.session.cookies.clear()
        attacker.sign_in(password="a-wrong-password")
