"""Which cases run where: on PostgreSQL those that reach rows, as their fixtures tell, and none can escape the rule."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.conf import settings
from pytest_django.plugin import blocking_manager_key

# fast: SQLite, in this process, without made-up inputs. soak: what is too long for every run.
RUN = os.environ.get("TEST_RUN", "whole")
# Programs that others wrote, and a browser: they see answers, not rows. That the answers are the same on PostgreSQL is
# what all other cases show; those that are marked with `both_databases` show that the way there works too.
OUTSIDE = ("tests/agent/", "tests/browser/", "tests/conformance/", "tests/mcp_clients/", "tests/oauthmcp/clients/")
# What no row decides: the form of requests, answers and manifests, each tool's own words, who may ask and how often,
# whom an end of access reaches, commands, pages and what is sent from them, files of repositories and of documentation,
# and how many statements a page takes. They read and write rows as other cases do (every list in tests/orgs, every tool
# in test_every_tool), and send no statement that those do not send. A folder, a file, or `file::` and how its cases
# begin. make soak has them on PostgreSQL too.
FORMS = (
    "tests/accounts/", "tests/attacks/", "tests/config/", "tests/sources/", "tests/web/",
    "tests/platforms/manifest/", "tests/platforms/snapshot/test_facts.py", "tests/platforms/snapshot/test_hiding.py",
    "tests/platforms/snapshot/test_partial.py", "tests/platforms/test_connect.py", "tests/platforms/test_demo.py",
    "tests/platforms/test_disconnect.py", "tests/platforms/test_sync.py", "tests/platforms/test_sync_over_http.py",
    "tests/tools/mcp/", "tests/tools/test_calls.py", "tests/tools/test_docs_pages.py", "tests/tools/test_examples.py",
    "tests/tools/test_hidden.py", "tests/tools/test_kept_answers.py", "tests/tools/test_kept_for_users.py",
    "tests/tools/test_precedence.py", "tests/tools/test_repairs.py", "tests/tools/catalog/",
    "tests/oauthmcp/script_tokens/test_death.py", "tests/oauthmcp/script_tokens/test_mails.py",
    "tests/oauthmcp/script_tokens/test_making.py", "tests/oauthmcp/script_tokens/test_pages.py",
    "tests/oauthmcp/test_access_admin.py", "tests/oauthmcp/test_authorize.py",
    "tests/oauthmcp/test_bearer.py", "tests/oauthmcp/test_client_authentication.py",
    "tests/oauthmcp/test_clients_page.py", "tests/oauthmcp/test_consent.py", "tests/oauthmcp/test_death.py",
    "tests/oauthmcp/test_parameters.py", "tests/oauthmcp/test_refresh.py", "tests/oauthmcp/test_refusals.py",
    "tests/oauthmcp/test_registration.py", "tests/oauthmcp/test_revocation.py", "tests/oauthmcp/test_scopes.py",
    "tests/oauthmcp/test_token.py", "tests/orgs/test_admin.py", "tests/orgs/test_admin_overview.py",
    "tests/orgs/test_admin_lists.py::test_a_list_asks_as_many", "tests/orgs/test_commands.py",
    "tests/orgs/test_lists.py::test_no_combination_takes", "tests/orgs/test_no_values.py",
)  # fmt: skip
# Calls that a library makes up from openapi.json: every run holds all answers of all other cases against it.
MADE_UP = "tests/tools/test_schemathesis.py"
# Servers of their own, which somebody attacks or breaks.
FROM_OUTSIDE = ("tests/attacks/", "tests/faults/")
# What has nothing for a fast run, and takes seconds to import.
NOT_FAST = (*OUTSIDE, *FROM_OUTSIDE)
# What pytest-django opens the database for, asked for by the case itself or by another fixture.
OPEN_ROWS = {"django_db_setup", "live_server"}
# Programs that tests start, and servers that they talk to.
OPEN_PROCESSES = {"live_server", "databases"}


def is_postgresql() -> bool:
    return str(settings.DATABASES["default"]["ENGINE"]).endswith("postgresql")


def reaches_rows(item: pytest.Item) -> bool:
    return has_marker(item, "django_db") or not OPEN_ROWS.isdisjoint(fixtures(item))


def is_outside(item: pytest.Item) -> bool:
    return item.nodeid.startswith(OUTSIDE)


def opens_processes(item: pytest.Item) -> bool:
    is_long = is_outside(item) or item.nodeid.startswith(FROM_OUTSIDE)
    return is_long or has_marker(item, "process") or not OPEN_PROCESSES.isdisjoint(fixtures(item))


def runs_here(item: pytest.Item) -> bool:
    if RUN == "fast" and (opens_processes(item) or has_marker(item, "hypothesis") or has_marker(item, "slow")):
        return False
    if RUN != "soak" and has_marker(item, "soak"):
        return False
    if is_postgresql():
        is_seen_enough = is_outside(item) or item.nodeid.startswith(FORMS)
        return reaches_rows(item) and (not is_seen_enough or RUN == "soak" or has_marker(item, "both_databases"))
    return True


def has_marker(item: pytest.Item, name: str) -> bool:
    return item.get_closest_marker(name) is not None


def fixtures(item: pytest.Item) -> list[str]:
    """Also those that other fixtures ask for."""
    return getattr(item, "fixturenames", [])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_ours = collection_path.is_relative_to(config.rootpath / "tests")
    return True if is_ours and has_nothing_here(collection_path, config.rootpath) else None


def has_nothing_here(path: Path, root: Path) -> bool:
    """A file or a folder of which no case runs: it need not be read, and what it asks for not be imported."""
    place = f"{path.relative_to(root)}/"
    if RUN != "soak" and place.startswith(MADE_UP):
        return True
    if RUN == "fast":
        return place.startswith(NOT_FAST)
    if RUN == "whole" and is_postgresql() and place.startswith((*OUTSIDE, *FORMS)):
        files = [path] if path.is_file() else path.rglob("test_*.py")
        return not any("both_databases" in file.read_text() for file in files)
    return False


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """What is collected stays until the end: the garbage collector need not go through it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)  # of what 700 new objects leave behind, nothing is worth a look so often
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[Any]:
    """Each worker begins with other files: what one has compiled, the others need only read."""
    report = yield
    if isinstance(collector, pytest.Directory):
        start = int(len(report.result) * place_among_workers())
        report.result = report.result[start:] + report.result[:start]
    return report


def place_among_workers() -> float:
    """From 0 up to 1, among those of this run and those that are at work on the other database."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return (number + is_postgresql() / 2) / int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if not runs_here(item)]
    # Slow ones first, so that in the end no worker waits for one that has only begun.
    items[:] = sorted(filter(runs_here, items), key=lambda item: (not opens_processes(item), item.path))
    config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Nothing of what ARGS name may reach rows. That they name anything has been seen on SQLite."""
    if is_postgresql() and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    with guarded(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with guarded(item):
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """PostgreSQL's run has fewer cases than SQLite's, which is at work beside it, and a server that works too."""
    cores = os.cpu_count() or 1
    return max(1, cores // 2) if is_postgresql() and RUN == "whole" else cores


@contextmanager
def guarded(item: pytest.Item) -> Iterator[None]:
    """A case that would be left out on PostgreSQL has no way to a connection on SQLite either."""
    with pytest.MonkeyPatch.context() as patch:
        if not reaches_rows(item):
            patch.setattr(item.config.stash[blocking_manager_key], "unblock", refuse)
        yield


def refuse() -> NoReturn:
    pytest.fail("This case reaches rows, and PostgreSQL's run would not know: let it name a fixture such as `db`.")
