"""What every test has: two organizations, and an `api` that checks every answer. Settings: environment.py."""

import pytest
from django.conf import settings as django_settings
from django.test import Client

from apps.orgs.models import Membership, User
from tests.api import Api
from tests.factories import Fill, fill
from tests.operators import client_of


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


@pytest.fixture
def operator(acme: Fill, rival: Fill) -> Client:
    """An operator's browser, signed in to the admin. Acme has a member."""
    user = User.objects.create_superuser("operator@example.com", "a-long-password")
    member = User.objects.create_user("member@example.com", "a-long-password")
    Membership.objects.create(organization=acme.organization, user=member, role="member")
    return client_of(user)
