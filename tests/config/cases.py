"""Settings that nobody may start with, each with the variable to blame, good ones, and what is said of either."""

import os
import runpy
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from config.checks import database_rules, settings_rules
from tests.config.server import BASE_DIR, LOCAL, PREVIEW, PRODUCTION

E2E = "hunter2-hunter2-hunter2-hunter2-hunter2"
SHORT = "hunter2"
FERNET_KEY = "aHVudGVyMmh1bnRlcjJodW50ZXIyaHVudGVyMmh1bnQ="

BAD: list[tuple[str, dict[str, str | None], str]] = [
    ("an unknown environment", LOCAL | {"PORTHOLE_ENV": "hunter2"}, "PORTHOLE_ENV"),
    ("no secret key in production", PRODUCTION | {"SECRET_KEY": None}, "SECRET_KEY"),
    ("no secret key where nothing is said of the environment", {"PORTHOLE_ENV": None}, "SECRET_KEY"),
    ("no secret key in preview", PREVIEW | {"SECRET_KEY": None}, "SECRET_KEY"),
    ("a short secret key", PRODUCTION | {"SECRET_KEY": SHORT}, "SECRET_KEY"),
    (
        "a short earlier secret key",
        PRODUCTION | {"SECRET_KEY_FALLBACKS": f"{E2E * 2}, {SHORT}"},
        "SECRET_KEY_FALLBACKS",
    ),
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
    ("networks to look into that are none", PRODUCTION | {"PROBE_NETWORKS": "hunter2"}, "PROBE_NETWORKS"),
    ("networks of git hosts that are none", PRODUCTION | {"SOURCE_NETWORKS": "hunter2"}, "SOURCE_NETWORKS"),
    ("a proxy that is none", PRODUCTION | {"SOURCE_PROXY": "hunter2"}, "SOURCE_PROXY"),
    ("a proxy of an unknown kind", PRODUCTION | {"SOURCE_PROXY": "socks5://hunter2:1080"}, "SOURCE_PROXY"),
    ("mirrors without room", PRODUCTION | {"MIRRORS_GIB": "1"}, "MIRRORS_GIB"),
    ("ways of probes that are none", PRODUCTION | {"PROBE_CONNECT_TO": "a.example.com=hunter2"}, "PROBE_CONNECT_TO"),
    ("authorities that are none", PRODUCTION | {"EXTRA_CA_CERTS": "hunter2"}, "EXTRA_CA_CERTS"),
    ("origins that are none", PRODUCTION | {"ALLOWED_ORIGINS": "*"}, "ALLOWED_ORIGINS"),
    ("schemes that are none", PRODUCTION | {"REDIRECT_SCHEMES": "hunter2;"}, "REDIRECT_SCHEMES"),
    ("a scheme that browsers act on", LOCAL | {"REDIRECT_SCHEMES": "zed,javascript"}, "REDIRECT_SCHEMES"),
    ("a port that is none", LOCAL | {"PORT": "hunter2"}, "PORT"),
    ("encryption keys that are none", PRODUCTION | {"ENCRYPTION_KEYS": "hunter2"}, "ENCRYPTION_KEYS"),
    ("docs at no address", LOCAL | {"DOCS_BASE_URL": "hunter2"}, "DOCS_BASE_URL"),
    ("synonyms of a single word", LOCAL | {"DOCS_SYNONYMS": "tls, ssl\nhunter2"}, "DOCS_SYNONYMS"),
    ("docs that are public or not", LOCAL | {"DOCS_PUBLIC": "hunter2"}, "DOCS_PUBLIC"),
]


GOOD: list[tuple[str, dict[str, str | None]]] = [
    ("local, nothing else said", LOCAL),
    ("local for another organization", LOCAL | {"LOCAL_DEV_ORG": "acme", "LOCAL_DEV_BEARER": "mine"}),
    ("local at another loopback address", LOCAL | {"PUBLIC_URL": "http://[::1]:9000"}),
    ("local without rate limits", LOCAL | {"RATE_LIMITS": "off"}),
    ("production", PRODUCTION),
    ("production, and production is the default", PRODUCTION | {"PORTHOLE_ENV": None}),
    ("production with all that it may have", PRODUCTION | {
        "TRUSTED_PROXIES": "10.0.0.0/8,fd00::/8", "ALLOWED_ORIGINS": "https://app.example.com",
        "DOCS_BASE_URL": "https://docs.example.com/v1", "DOCS_SYNONYMS": "# ours\nblimp, ship\n",
        "RATE_LIMITS": "on", "PORT": "8080",
        "EMAIL_URL": "smtps://me:hunter2@mail.example.com", "EMAIL_FROM": "porthole@example.com",
        "REDIRECT_SCHEMES": "acme-ide", "PROBE_NETWORKS": "10.0.0.0/8,fd00::/8",
        "SOURCE_NETWORKS": "10.0.0.0/8,fd00::/8", "SOURCE_PROXY": "http://user:pass@proxy.example.com:3128",
        "MIRRORS_GIB": "2",
        "PROBE_CONNECT_TO": "a.example.com=10.0.0.5, *.example.com:443=[fd00::5]:8443",
        "SECRET_KEY_FALLBACKS": f"{E2E * 2},\n {E2E * 3}\n",
        "ENCRYPTION_KEYS": f"{FERNET_KEY},\n {FERNET_KEY}\n",
    }),
    ("preview", PREVIEW),
    ("preview without https", PREVIEW | {"PUBLIC_URL": "http://preview.example.com"}),
    ("preview with a bootstrap secret", PREVIEW | {"E2E_BOOTSTRAP_SECRET": E2E, "BOOTSTRAP_ORG": "acme"}),
]  # fmt: skip


def given(values: dict[str, str | None], data_dir: Path) -> dict[str, str]:
    """What a process gets: nothing for None, and the data of the tests unless the case is about that."""
    return {name: value for name, value in ({"DATA_DIR": str(data_dir)} | values).items() if value is not None}


def refusals(env: dict[str, str]) -> list[str]:
    """What the settings would say to whoever starts with this environment, and the rules about them and about rows."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            patch.delenv(name)
        for name, value in env.items():
            patch.setenv(name, value)
        try:
            read = runpy.run_path(str(BASE_DIR / "config/settings.py"))
        except ImproperlyConfigured as error:
            return [str(error)]
    names = [name for name in read if name.isupper() and name != "DATABASES"]
    with override_settings(**{name: read[name] for name in names if getattr(settings, name, None) != read[name]}):
        problems = [*settings_rules(), *database_rules(databases=["default"])]
        return [problem.msg for problem in problems if problem.is_serious()]
