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


FUNCTION = """
import sys
from config.deferred import defer
defer("statistics", "mean")
from statistics import mean
assert "fractions" not in sys.modules
assert mean([1, 3]) == 2 and mean([5]) == 5
import statistics
assert statistics.mean is not mean and statistics.median([1]) == 1
"""


def test_a_function_of_a_deferred_module_loads_it_when_it_is_called() -> None:
    assert run("-c", FUNCTION, env={}) == (0, "")
