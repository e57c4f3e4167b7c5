"""Production settings have nothing that Django would warn of."""

from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from tests.config.server import PRODUCTION, run


def test_django_has_no_warning_about_production(data_dir: Path) -> None:
    env = PRODUCTION | {"DATA_DIR": str(data_dir)}
    status, said = run(
        "-W", "error", "manage.py", "check", "--deploy", "--fail-level", "WARNING", "--database", "default", env=env
    )
    assert status == 0, said
    assert "no issues" in said


@pytest.mark.django_db
def test_pages_have_the_headers_that_the_silenced_warnings_ask_for(client: Client) -> None:
    """W001, W002 and W003 are silenced because subclasses do it: here they do."""
    response = client.get("/")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "default-src 'none'" in response["Content-Security-Policy"]


@pytest.mark.django_db
def test_forms_are_protected_against_other_sites() -> None:
    strict = Client(enforce_csrf_checks=True)
    response = strict.post("/admin/login/", {"username": "a@porthole.test", "password": "x"})
    assert response.status_code == 403
    assert settings.SECURE_HSTS_SECONDS == 0  # local; production has a year, or --deploy would warn
