"""Which cases run where is decided by their fixtures, and no case gets round the decision."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import selection
from tests.config.server import BASE_DIR


def case(nodeid: str = "tests/x.py::test_x", fixtures: str = "", markers: str = "") -> Any:
    has = markers.split()
    return SimpleNamespace(
        nodeid=nodeid, fixturenames=fixtures.split(), get_closest_marker=lambda name: name if name in has else None
    )


def test_a_case_without_rows_is_kept_from_them(django_db_blocker: Any) -> None:
    with pytest.raises(pytest.fail.Exception, match="PostgreSQL's run would not know"):
        django_db_blocker.unblock()


def test_a_case_with_rows_reaches_them(db: None, django_db_blocker: Any) -> None:
    with django_db_blocker.unblock():
        pass


@pytest.mark.parametrize(
    ("found", "reaches"),
    [
        (case(), False), (case(fixtures="tmp_path monkeypatch"), False), (case(markers="spec"), False),
        (case(markers="django_db"), True), (case(fixtures="acme db django_db_setup"), True),
        (case(fixtures="live_server"), True),
    ],
)  # fmt: skip
def test_fixtures_and_markers_tell_who_reaches_rows(found: Any, reaches: bool) -> None:
    assert selection.reaches_rows(found) is reaches


@pytest.mark.parametrize("fixture", ["db", "transactional_db", "acme", "api", "operator"])
def test_the_fixtures_of_rows_are_known_by_what_they_ask_for(request: pytest.FixtureRequest, fixture: str) -> None:
    names = request.session._fixturemanager.getfixtureclosure(request.node.parent, (fixture,), ())[0]
    assert selection.reaches_rows(case(fixtures=" ".join(names)))


@pytest.mark.parametrize(
    ("run", "is_postgresql", "found", "runs"),
    [
        ("whole", False, case(), True), ("whole", False, case(fixtures="live_server"), True),
        ("whole", True, case(), False), ("whole", True, case(fixtures="django_db_setup"), True),
        ("whole", True, case("tests/browser/test_x.py::test_x", "live_server"), False),
        ("whole", True, case("tests/browser/test_x.py::test_x", "live_server", "both_databases"), True),
        ("soak", True, case("tests/browser/test_x.py::test_x", "live_server"), True),
        ("whole", True, case("tests/web/test_x.py::test_x", "django_db_setup"), False),
        ("soak", True, case("tests/web/test_x.py::test_x", "django_db_setup"), True),
        ("whole", False, case(markers="soak"), False), ("soak", False, case(markers="soak"), True),
        ("fast", False, case(fixtures="django_db_setup"), True), ("fast", False, case(fixtures="live_server"), False),
        ("fast", False, case(fixtures="databases"), False), ("fast", False, case(markers="process"), False),
        ("fast", False, case(markers="hypothesis"), False),
        ("fast", False, case("tests/conformance/test_x.py::test_x"), False),
    ],
)  # fmt: skip
def test_every_run_has_its_cases(
    monkeypatch: pytest.MonkeyPatch, run: str, is_postgresql: bool, found: Any, runs: bool
) -> None:
    monkeypatch.setattr(selection, "RUN", run)
    monkeypatch.setattr(selection, "is_postgresql", lambda: is_postgresql)
    assert selection.runs_here(found) is runs


@pytest.mark.parametrize(
    ("run", "is_postgresql", "place", "is_left_out"),
    [
        ("whole", True, "tests/agent", True), ("whole", False, "tests/tools/test_schemathesis.py", True),
        ("soak", True, "tests/tools/test_schemathesis.py", False), ("whole", True, "tests/browser", True),
        ("whole", True, "tests/mcp_clients/test_clients.py", False), ("whole", True, "tests/orgs", False),
        ("whole", True, "tests/tools", False), ("soak", True, "tests/agent", False),
        ("whole", False, "tests/agent", False), ("fast", False, "tests/agent", True),
        ("fast", False, "tests/web", False),
    ],
)  # fmt: skip
def test_a_file_of_which_nothing_runs_is_not_read(
    monkeypatch: pytest.MonkeyPatch, run: str, is_postgresql: bool, place: str, is_left_out: bool
) -> None:
    monkeypatch.setattr(selection, "RUN", run)
    monkeypatch.setattr(selection, "is_postgresql", lambda: is_postgresql)
    assert selection.has_nothing_here(BASE_DIR / place, BASE_DIR) is is_left_out


def test_each_worker_of_both_runs_begins_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    places = set()
    for worker, is_postgresql in ((0, False), (1, False), (0, True), (1, True)):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", f"gw{worker}")
        monkeypatch.setattr(selection, "is_postgresql", lambda found=is_postgresql: found)
        places.add(selection.place_among_workers())
    assert places == {0.0, 0.25, 0.5, 0.75}


def test_whoever_serves_a_database_in_a_file_opens_processes(request: pytest.FixtureRequest) -> None:
    names = request.session._fixturemanager.getfixtureclosure(request.node.parent, ("data_dir",), ())[0]
    assert selection.opens_processes(case(fixtures=" ".join(names)))


def test_what_is_named_is_there() -> None:
    for place in (*selection.OUTSIDE, *selection.FORMS, *selection.FROM_OUTSIDE, selection.MADE_UP):
        file, _, case = place.partition("::")
        path = Path(BASE_DIR, file)
        assert path.is_file() or list(path.glob("test_*.py")), place
        assert not case or f"def {case}" in path.read_text(), place
