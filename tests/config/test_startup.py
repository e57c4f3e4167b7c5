"""Bad settings stop start-up with one sentence that names the variable, whatever starts it."""

import runpy
import shutil
from pathlib import Path

import pytest
from django.conf import settings

from apps.orgs.models import Organization, User
from tests.config.cases import BAD, E2E, GOOD, given, refusals
from tests.config.server import (
    BASE_DIR,
    GUNICORN,
    LOCAL,
    PREVIEW,
    PRODUCTION,
    finish,
    free_port,
    gunicorn,
    has_ipv6,
    run,
    start,
)

CHECK = ("manage.py", "check", "--database", "default")
IMPORT = ("-c", "import config.wsgi")

IDS = [name for name, _, _ in BAD]


def check_words(sentence: str, variable: str) -> None:
    assert variable in sentence
    assert "hunter2" not in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


@pytest.fixture
def organizations(db: None) -> None:
    """Those that data_dir has too."""
    for slug in ("acme", "demo"):
        Organization.objects.create(slug=slug, name=slug)


@pytest.mark.parametrize(("values", "variable"), [case[1:] for case in BAD], ids=IDS)
def test_bad_settings_are_refused_in_one_sentence(
    organizations: None, values: dict[str, str | None], variable: str, tmp_path: Path
) -> None:
    found = refusals(given(values, tmp_path))
    assert found
    for sentence in found:
        check_words(sentence, variable)


@pytest.mark.parametrize("values", [{"PORTHOLE_ENV": "hunter2"}, {"PORT": "hunter2"}, {"WEB_CONCURRENCY": "0"}])
def test_what_gunicorn_reads_itself_it_refuses_in_the_same_way(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str]
) -> None:
    for name, value in values.items():
        monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as refused:
            runpy.run_path(str(BASE_DIR / "config/gunicorn.conf.py"))
        check_sentence(1, str(refused.value.code), name)


def check_refusal(status: int, said: str, variable: str) -> None:
    assert status > 0, said
    assert variable in said
    assert "Traceback" not in said
    assert "hunter2" not in said


def check_sentence(status: int, said: str, variable: str) -> None:
    check_refusal(status, said, variable)
    (sentence,) = (line for line in said.splitlines() if "Porthole does not start" in line)
    assert sentence.startswith("Porthole does not start: ")
    check_words(sentence, variable)


# What the settings refuse while they are read, and what a rule finds afterwards, in rows: whoever starts hears both.
EACH_KIND = ["a secret key from a missing file", "a local bearer for an unknown organization"]


@pytest.mark.parametrize(
    ("values", "variable"),
    [
        pytest.param(values, variable, id=name, marks=[] if name in EACH_KIND else pytest.mark.soak)
        for name, values, variable in BAD
    ],
)
def test_bad_settings_stop_every_start(values: dict[str, str | None], variable: str, data_dir: Path) -> None:
    env = given(values, data_dir)
    started = [start(*IMPORT, env=env), start(*CHECK, env=env), start(*GUNICORN, env={"PORT": str(free_port())} | env)]
    imported, checked, served = (finish(process) for process in started)
    check_sentence(*imported, variable)
    check_refusal(*checked, variable)
    check_sentence(*served, variable)


@pytest.mark.parametrize(
    "values",
    [{}, {"DEMO_EMAIL": "Other@porthole.test", "DEMO_PASSWORD": "hunter2 opens it"}],
    ids=["its default", "another one"],
)
def test_a_demo_password_that_works_is_refused_but_in_local(
    organizations: None, values: dict[str, str], tmp_path: Path
) -> None:
    User.objects.create_user(
        values.get("DEMO_EMAIL", settings.DEMO_EMAIL), values.get("DEMO_PASSWORD", settings.DEMO_PASSWORD)
    )
    for environment in (PRODUCTION, PREVIEW):
        (sentence,) = refusals(given(environment | values, tmp_path))
        check_words(sentence, "DEMO_PASSWORD")
    assert refusals(given(LOCAL | values, tmp_path)) == []


@pytest.mark.soak
def test_a_demo_password_that_works_stops_production(tmp_path: Path, data_dir: Path) -> None:
    shutil.copytree(data_dir, tmp_path / "data")
    make_user = (
        "import django; django.setup(); from django.conf import settings; from apps.orgs.models import User; "
        "User.objects.create_user(settings.DEMO_EMAIL, settings.DEMO_PASSWORD)"
    )
    env = {"DATA_DIR": str(tmp_path / "data")}
    status, said = run("-c", make_user, env=env | LOCAL | {"DJANGO_SETTINGS_MODULE": "config.settings"})
    assert status == 0, said
    check_sentence(*run(*GUNICORN, env=env | PRODUCTION | {"PORT": str(free_port())}), "DEMO_PASSWORD")


NO_IPV6 = pytest.mark.skipif(not has_ipv6(), reason="no IPv6")


@pytest.mark.parametrize("bind", ["0.0.0.0", pytest.param("[::]", marks=[NO_IPV6, pytest.mark.soak])])
def test_local_is_never_bound_to_the_outside(bind: str, data_dir: Path) -> None:
    env = given(LOCAL, data_dir)
    status, said = run(*GUNICORN, "--bind", "127.0.0.1:0", "--bind", f"{bind}:0", env=env)
    check_sentence(status, said, "PORTHOLE_ENV")


@pytest.mark.soak
def test_djangos_own_server_is_not_bound_to_the_outside_either(data_dir: Path) -> None:
    status, said = run("manage.py", "runserver", "--noreload", f"0.0.0.0:{free_port()}", env=given(LOCAL, data_dir))
    assert status == 1
    assert "loopback" in said


@pytest.mark.soak
def test_a_server_without_workers_does_not_start(data_dir: Path) -> None:
    # gunicorn itself refuses what is no number, before it reads our configuration.
    status, said = run(*GUNICORN, env=given(LOCAL | {"WEB_CONCURRENCY": "0", "PORT": str(free_port())}, data_dir))
    check_sentence(status, said, "WEB_CONCURRENCY")


STARTED = ["production with all that it may have"]
GOOD_IDS = [name for name, _ in GOOD]


@pytest.mark.parametrize("values", [values for _, values in GOOD], ids=GOOD_IDS)
def test_good_settings_are_not_refused(organizations: None, values: dict[str, str | None], tmp_path: Path) -> None:
    assert refusals(given(values, tmp_path)) == []


@pytest.mark.parametrize(
    "values",
    [pytest.param(values, id=name, marks=[] if name in STARTED else pytest.mark.soak) for name, values in GOOD],
)
def test_good_settings_start(values: dict[str, str | None], data_dir: Path) -> None:
    env = given(values, data_dir)
    imported, checked = start(*IMPORT, env=env), start(*CHECK, env=env)
    for status, said in (finish(imported), finish(checked)):
        assert status == 0, said


def test_settings_come_from_files(db: None, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(PRODUCTION["SECRET_KEY"] + "\n")
    env = given(PRODUCTION | {"SECRET_KEY": None, "SECRET_KEY_FILE": str(tmp_path / "key")}, tmp_path)
    assert refusals(env) == []


@pytest.mark.soak
@pytest.mark.process
def test_rules_about_rows_wait_for_the_tables(tmp_path: Path) -> None:
    """Else nobody could migrate an empty database with these settings."""
    env = given(PREVIEW | {"E2E_BOOTSTRAP_SECRET": E2E, "BOOTSTRAP_ORG": "acme"}, tmp_path)
    status, said = run("manage.py", "migrate", "contenttypes", "--verbosity", "0", env=env)
    assert status == 0, said


def test_production_serves_on_all_addresses(data_dir: Path) -> None:
    with gunicorn(given(PRODUCTION, data_dir)) as server:
        answer = server.call("/healthz", method="GET", token=None, host="10.1.2.3")
        assert (answer.status, answer.body) == (200, b"ok\n")
