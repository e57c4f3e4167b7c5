"""What letting in costs: one registration of a client, and the check of one access token."""

import time
from collections.abc import Callable
from statistics import median

from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.oauthmcp.tokens import authenticate_access_token
from benchmarks.stock import forget


def measure(register: Callable[[], bytes], token: str, batches: int) -> None:
    """Prints the CPU of one registration and of one check, and how many queries a check asks."""
    assert authenticate_access_token(token) is not None
    with CaptureQueriesContext(connection) as queries:
        authenticate_access_token(token)
    number = len(queries)  # now: a request empties the log
    assert number == 1, queries.captured_queries
    for _ in range(20):
        register()
        authenticate_access_token(token)
    registrations, checks = [], []
    for _ in range(batches):
        registrations.append(_cpu(register, 5))
        checks.append(_cpu(lambda: authenticate_access_token(token), 50))
    forget()
    print(f"registration of a client: {median(registrations) * 1e3:.2f} ms of CPU")
    print(f"check of an access token: {median(checks) * 1e3:.3f} ms of CPU, {number} query")


def _cpu(call: Callable[[], object], size: int) -> float:
    before = time.process_time()
    for _ in range(size):
        call()
    return (time.process_time() - before) / size
