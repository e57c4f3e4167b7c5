"""What every test has: two organizations, and an `api` that checks every answer. Settings: environment.py."""

import pytest
from django.conf import settings as django_settings

from tests.api import Api
from tests.factories import Fill, fill


def pytest_configure() -> None:
    django_settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


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
