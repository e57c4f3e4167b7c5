"""Bad settings stop start-up with one sentence that names the variable, whatever starts it."""

import shutil
from pathlib import Path

import pytest

from tests.config.server import (
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

E2E = "hunter2-hunter2-hunter2-hunter2-hunter2"
SHORT = "hunter2"
CHECK = ("manage.py", "check", "--database", "default")
IMPORT = ("-c", "import config.wsgi")

BAD: list[tuple[str, dict[str, str | None], str]] = [
    ("an unknown environment", LOCAL | {"PORTHOLE_ENV": "hunter2"}, "PORTHOLE_ENV"),
    ("no secret key in production", PRODUCTION | {"SECRET_KEY": None}, "SECRET_KEY"),
    ("no secret key where nothing is said of the environment", {"PORTHOLE_ENV": None}, "SECRET_KEY"),
    ("no secret key in preview", PREVIEW | {"SECRET_KEY": None}, "SECRET_KEY"),
    ("a short secret key", PRODUCTION | {"SECRET_KEY": SHORT}, "SECRET_KEY"),
    (
        "a secret key from a missing file",
        PRODUCTION | {"SECRET_KEY": None, "SECRET_KEY_FILE": "/hunter2"},
        "SECRET_KEY_FILE",
    ),
    ("a secret key twice", PRODUCTION | {"SECRET_KEY_FILE": "/hunter2"}, "SECRET_KEY"),
    ("no public address in production", PRODUCTION | {"PUBLIC_URL": None}, "PUBLIC_URL"),
    ("no public address in preview", PREVIEW | {"PUBLIC_URL": None}, "PUBLIC_URL"),
    ("http in production", PRODUCTION | {"PUBLIC_URL": "http://hunter2.example.com"}, "PUBLIC_URL"),
    ("a trailing slash", PRODUCTION | {"PUBLIC_URL": "https://hunter2.example.com/"}, "PUBLIC_URL"),
    (
        "a public address that is not loopback in local",
        LOCAL | {"PUBLIC_URL": "http://hunter2.example.com"},
        "PUBLIC_URL",
    ),
    ("the local bearer in production", PRODUCTION | {"LOCAL_DEV_BEARER": SHORT}, "LOCAL_DEV_BEARER"),
    ("the local bearer in preview", PREVIEW | {"LOCAL_DEV_BEARER": SHORT}, "LOCAL_DEV_BEARER"),
    ("a local bearer that no header can carry", LOCAL | {"LOCAL_DEV_BEARER": "hunter2 ünd"}, "LOCAL_DEV_BEARER"),
    ("the bootstrap secret in production", PRODUCTION | {"E2E_BOOTSTRAP_SECRET": E2E}, "E2E_BOOTSTRAP_SECRET"),
    ("the bootstrap secret in local", LOCAL | {"E2E_BOOTSTRAP_SECRET": E2E}, "E2E_BOOTSTRAP_SECRET"),
    (
        "a short bootstrap secret",
        PREVIEW | {"E2E_BOOTSTRAP_SECRET": E2E[:31], "BOOTSTRAP_ORG": "acme"},
        "E2E_BOOTSTRAP_SECRET",
    ),
    (
        "a bootstrap secret that no header can carry",
        PREVIEW | {"E2E_BOOTSTRAP_SECRET": E2E + "é", "BOOTSTRAP_ORG": "acme"},
        "E2E_BOOTSTRAP_SECRET",
    ),
    ("a bootstrap secret for nobody", PREVIEW | {"E2E_BOOTSTRAP_SECRET": E2E}, "BOOTSTRAP_ORG"),
    (
        "a bootstrap secret for an unknown organization",
        PREVIEW | {"E2E_BOOTSTRAP_SECRET": E2E, "BOOTSTRAP_ORG": "hunter2"},
        "BOOTSTRAP_ORG",
    ),
    ("a local bearer for an unknown organization", LOCAL | {"LOCAL_DEV_ORG": "hunter2"}, "LOCAL_DEV_ORG"),
    ("rate limits of another kind", LOCAL | {"RATE_LIMITS": "hunter2"}, "RATE_LIMITS"),
    ("no rate limits in production", PRODUCTION | {"RATE_LIMITS": "off"}, "RATE_LIMITS"),
    ("no rate limits in preview", PREVIEW | {"RATE_LIMITS": "off"}, "RATE_LIMITS"),
    ("mail to nowhere", LOCAL | {"EMAIL_URL": "hunter2"}, "EMAIL_URL"),
    ("mail that is printed in production", PRODUCTION | {"EMAIL_URL": "console:"}, "EMAIL_URL"),
    ("mail from nobody", LOCAL | {"EMAIL_FROM": "hunter2"}, "EMAIL_FROM"),
    ("a database that is no address", LOCAL | {"DATABASE_URL": "hunter2"}, "DATABASE_URL"),
    ("a database of an unknown kind", LOCAL | {"DATABASE_URL": "hunter2://user:hunter2@host/name"}, "DATABASE_URL"),
    (
        "a database of a kind that is not served",
        LOCAL | {"DATABASE_URL": "mysql://user:hunter2@host/name"},
        "DATABASE_URL",
    ),
    ("a database without a name", LOCAL | {"DATABASE_URL": "postgresql://user:hunter2@host"}, "DATABASE_URL"),
    (
        "a database with a bad port",
        LOCAL | {"DATABASE_URL": "postgresql://user:hunter2@host:port/name"},
        "DATABASE_URL",
    ),
    ("a database in memory", LOCAL | {"DATABASE_URL": "sqlite://:memory:"}, "DATABASE_URL"),
    ("a data folder that cannot be made", LOCAL | {"DATA_DIR": "/dev/null/hunter2"}, "DATA_DIR"),
    ("proxies that are no networks", PRODUCTION | {"TRUSTED_PROXIES": "hunter2"}, "TRUSTED_PROXIES"),
    ("origins that are none", PRODUCTION | {"ALLOWED_ORIGINS": "*"}, "ALLOWED_ORIGINS"),
    ("schemes that are none", PRODUCTION | {"REDIRECT_SCHEMES": "hunter2;"}, "REDIRECT_SCHEMES"),
    ("a scheme that browsers act on", LOCAL | {"REDIRECT_SCHEMES": "zed,javascript"}, "REDIRECT_SCHEMES"),
    ("a port that is none", LOCAL | {"PORT": "hunter2"}, "PORT"),
    ("docs at no address", LOCAL | {"DOCS_BASE_URL": "hunter2"}, "DOCS_BASE_URL"),
]
IDS = [name for name, _, _ in BAD]


def given(values: dict[str, str | None], data_dir: Path) -> dict[str, str]:
    """What a process gets: nothing for None, and the data of the tests unless the case is about that."""
    return {name: value for name, value in ({"DATA_DIR": str(data_dir)} | values).items() if value is not None}


def check_refusal(status: int, said: str, variable: str) -> None:
    assert status > 0, said
    assert variable in said
    assert "Traceback" not in said
    assert "hunter2" not in said


def check_sentence(status: int, said: str, variable: str) -> None:
    check_refusal(status, said, variable)
    (sentence,) = (line for line in said.splitlines() if "Porthole does not start" in line)
    assert sentence.startswith("Porthole does not start: ")
    assert variable in sentence
    assert sentence.endswith(".")


@pytest.mark.parametrize(("values", "variable"), [case[1:] for case in BAD], ids=IDS)
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
def test_a_demo_password_that_works_stops_production(values: dict[str, str], tmp_path: Path, data_dir: Path) -> None:
    shutil.copytree(data_dir, tmp_path / "data")
    make_user = (
        "import django; django.setup(); from django.conf import settings; from apps.orgs.models import User; "
        "User.objects.create_user(settings.DEMO_EMAIL, settings.DEMO_PASSWORD)"
    )
    env = values | {"DATA_DIR": str(tmp_path / "data")}
    status, said = run("-c", make_user, env=env | LOCAL | {"DJANGO_SETTINGS_MODULE": "config.settings"})
    assert status == 0, said
    for environment in (PRODUCTION, PREVIEW):
        check_sentence(*run(*IMPORT, env=env | environment), "DEMO_PASSWORD")
    check_sentence(*run(*GUNICORN, env=env | PRODUCTION | {"PORT": str(free_port())}), "DEMO_PASSWORD")
    status, said = run(*IMPORT, env=env | LOCAL)
    assert status == 0, said


@pytest.mark.parametrize(
    "bind", ["0.0.0.0", pytest.param("[::]", marks=pytest.mark.skipif(not has_ipv6(), reason="no IPv6"))]
)
def test_local_is_never_bound_to_the_outside(bind: str, data_dir: Path) -> None:
    env = given(LOCAL, data_dir)
    status, said = run(*GUNICORN, "--bind", "127.0.0.1:0", "--bind", f"{bind}:0", env=env)
    check_sentence(status, said, "PORTHOLE_ENV")


def test_djangos_own_server_is_not_bound_to_the_outside_either(data_dir: Path) -> None:
    status, said = run("manage.py", "runserver", "--noreload", f"0.0.0.0:{free_port()}", env=given(LOCAL, data_dir))
    assert status == 1
    assert "loopback" in said


def test_a_server_without_workers_does_not_start(data_dir: Path) -> None:
    # gunicorn itself refuses what is no number, before it reads our configuration.
    status, said = run(*GUNICORN, env=given(LOCAL | {"WEB_CONCURRENCY": "0", "PORT": str(free_port())}, data_dir))
    check_sentence(status, said, "WEB_CONCURRENCY")


GOOD: list[tuple[str, dict[str, str | None]]] = [
    ("local, nothing else said", LOCAL),
    ("local for another organization", LOCAL | {"LOCAL_DEV_ORG": "acme", "LOCAL_DEV_BEARER": "mine"}),
    ("local at another loopback address", LOCAL | {"PUBLIC_URL": "http://[::1]:9000"}),
    ("local without rate limits", LOCAL | {"RATE_LIMITS": "off"}),
    ("production", PRODUCTION),
    ("production, and production is the default", PRODUCTION | {"PORTHOLE_ENV": None}),
    ("production with all that it may have", PRODUCTION | {
        "TRUSTED_PROXIES": "10.0.0.0/8,fd00::/8", "ALLOWED_ORIGINS": "https://app.example.com",
        "DOCS_BASE_URL": "https://docs.example.com/v1", "RATE_LIMITS": "on", "PORT": "8080",
        "EMAIL_URL": "smtps://me:hunter2@mail.example.com", "EMAIL_FROM": "porthole@example.com",
        "REDIRECT_SCHEMES": "acme-ide",
    }),
    ("preview", PREVIEW),
    ("preview without https", PREVIEW | {"PUBLIC_URL": "http://preview.example.com"}),
    ("preview with a bootstrap secret", PREVIEW | {"E2E_BOOTSTRAP_SECRET": E2E, "BOOTSTRAP_ORG": "acme"}),
]  # fmt: skip


@pytest.mark.parametrize("values", [values for _, values in GOOD], ids=[name for name, _ in GOOD])
def test_good_settings_start(values: dict[str, str | None], data_dir: Path) -> None:
    env = given(values, data_dir)
    imported, checked = start(*IMPORT, env=env), start(*CHECK, env=env)
    for status, said in (finish(imported), finish(checked)):
        assert status == 0, said


def test_settings_come_from_files(tmp_path: Path, data_dir: Path) -> None:
    (tmp_path / "key").write_text(PRODUCTION["SECRET_KEY"] + "\n")
    env = given(PRODUCTION | {"SECRET_KEY": None, "SECRET_KEY_FILE": str(tmp_path / "key")}, data_dir)
    status, said = run(*IMPORT, env=env)
    assert status == 0, said


def test_rules_about_rows_wait_for_the_tables(tmp_path: Path) -> None:
    """Else nobody could migrate an empty database with these settings."""
    env = given(PREVIEW | {"E2E_BOOTSTRAP_SECRET": E2E, "BOOTSTRAP_ORG": "acme"}, tmp_path)
    status, said = run("manage.py", "migrate", "--verbosity", "0", env=env)
    assert status == 0, said


def test_production_serves_on_all_addresses(data_dir: Path) -> None:
    with gunicorn(given(PRODUCTION, data_dir)) as server:
        answer = server.call("/healthz", method="GET", token=None, host="10.1.2.3")
        assert (answer.status, answer.body) == (200, b"ok\n")
