"""What every test has: local settings in a temporary folder, two organizations, and an `api` that checks answers."""

import os
import tempfile
from pathlib import Path

_data = Path(tempfile.mkdtemp(prefix="porthole-tests-"))
(_data / "static").mkdir()
os.environ.update(PORTHOLE_ENV="local", DATA_DIR=str(_data), RATE_LIMITS="off")
for _name in ("PUBLIC_URL", "PORT", "SECRET_KEY", "LOCAL_DEV_BEARER", "LOCAL_DEV_ORG", "DOCS_DIRS", "DOCS_BASE_URL"):
    os.environ.pop(_name, None)

import shutil  # noqa: E402  (settings are read from the environment when pytest-django starts)

import pytest  # noqa: E402
from django.conf import settings as django_settings  # noqa: E402

from tests.api import Api  # noqa: E402
from tests.factories import Fill, fill  # noqa: E402


def pytest_configure() -> None:
    django_settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_unconfigure() -> None:
    shutil.rmtree(_data, ignore_errors=True)


@pytest.fixture
def acme(db: None) -> Fill:
    """The organization that the tests' bearer sees, with something in every table."""
    return fill("acme")


@pytest.fixture
def rival(db: None) -> Fill:
    """An organization with the same kinds of things, which acme must never see."""
    return fill("rival")


@pytest.fixture
def api(acme: Fill, rival: Fill, settings: object) -> Api:
    """Calls tools as acme, and checks every answer against openapi.json."""
    settings.LOCAL_DEV_ORG = "acme"  # type: ignore[attr-defined]
    return Api(bearer=django_settings.LOCAL_DEV_BEARER)
