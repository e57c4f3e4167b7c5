"""Modules that wait until something of them is used."""

from tests.config.server import run

DEFERRED = """
import sys
from config.deferred import defer
defer("statistics")
import statistics, statistics as again
assert "fractions" not in sys.modules
assert statistics.mean([1, 3]) == 2 and again.median([1]) == 1
import statistics
assert statistics is not again and statistics.mean is again.mean
"""


def test_a_deferred_module_is_loaded_when_it_is_used() -> None:
    assert run("-c", DEFERRED, env={}) == (0, "")
