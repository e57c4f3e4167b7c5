"""What systemd is told fits what it starts."""

import runpy

import pytest

from config.env import BASE_DIR
from tests.deploy.units import Unit, read

UNITS = [read(BASE_DIR / f"deploy/systemd/porthole-{name}.service") for name in ("web", "worker")]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_kills_nobody_who_is_still_being_answered(unit: Unit) -> None:
    graceful = runpy.run_path(str(BASE_DIR / "config/gunicorn.conf.py"))["graceful_timeout"]
    assert unit.one("KillMode") == "mixed"
    assert unit.seconds_to_stop() >= graceful + 5


def test_both_units_are_hardened_alike() -> None:
    of_each_its_own = {"Type", "ExecStart"}
    web, worker = ({key: unit.values[key] for key in unit.values.keys() - of_each_its_own} for unit in UNITS)
    assert web == worker
    assert web["ProtectSystem"] == ["strict"]
    assert web["NoNewPrivileges"] == ["yes"]
    assert web["CapabilityBoundingSet"] == [""]
