"""Values that a child process makes, so that what it takes to make them is nobody's."""

import threading

from apps.web.once import Once, make_apart
from tests.config.server import run

# Its asserts fail the program.
APART = """
import os, sys
from apps.web.once import Once, make_apart

def make(name):
    import statistics
    if name == "none":
        raise ValueError("there is none")
    return name.encode(), os.getpid()

good, bad = Once(make), Once(make)
make_apart((good, "a"), (good, "b"))
make_apart((bad, "a"), (bad, "none"))
assert "statistics" not in sys.modules
assert good("a")[0] == b"a" and good("b")[0] == b"b"
assert good("a")[1] == good("b")[1] != os.getpid()
assert bad("a")[1] == os.getpid() and "statistics" in sys.modules
try:
    bad("none")
except ValueError as error:
    print(error)
"""


def test_a_child_makes_them_and_what_it_cannot_make_is_left_to_who_asks() -> None:
    assert run("-c", APART, env={}) == (0, "there is none\n")


def test_nothing_is_made_apart_where_other_threads_hold_locks() -> None:
    made = Once(lambda: 1)
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    make_apart((made,))
    over.set()
    other.join()
    assert made.made == {}
    assert made() == made() == 1
    assert made.made == {(): 1}
