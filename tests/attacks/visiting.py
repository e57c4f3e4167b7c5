"""A server to attack: a real gunicorn that believes a proxy on loopback, so that one machine can be many addresses."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import requests
from django.contrib.staticfiles.storage import ManifestFilesMixin

from apps import web
from tests.accounts.visitors import PASSWORD
from tests.config.server import LOCAL, gunicorn, run
from tests.oauthmcp.clients.robot import Form, Forms
from tests.patience import patience

EMAIL = "ada@example.com"
OUR_FILES = Path(web.__file__).parent / "static" / "porthole"
PEOPLE = f"""
import django
django.setup()
from apps.orgs.models import Membership, Organization, User
Membership.objects.create(
    organization=Organization.objects.get(slug="acme"), user=User.objects.create_user("{EMAIL}", "{PASSWORD}")
)
"""


@dataclass
class Browser:
    """Somebody at an address, with cookies of their own."""

    server: str
    address: str

    def __post_init__(self) -> None:
        self.session = requests.Session()
        self.session.headers["X-Forwarded-For"] = self.address

    def get(self, path: str, **more: Any) -> requests.Response:
        return self.session.get(urljoin(self.server, path), timeout=patience(), **more)

    def post(self, path: str, **more: Any) -> requests.Response:
        return self.session.post(urljoin(self.server, path), timeout=patience(), **more)

    def form(self, page: requests.Response, button: tuple[str, str] | None = None) -> Form:
        """The one with this button; else the last of the page."""
        return [form for form in Forms(page.text).found if button is None or button in form.buttons][-1]

    def sign_in(self, password: str = PASSWORD, email: str = EMAIL, next: str = "/account/") -> requests.Response:
        page = self.get("/account/login/", params={"next": next})
        fields = self.form(page).filled_in(login=email, password=password)
        return self.post("/account/login/", data=fields, allow_redirects=False)

    def is_signed_in(self) -> bool:
        return self.get("/account/", allow_redirects=False).status_code == 200


@contextmanager
def attacked(databases: Path, folder: Path, script: str = "") -> Iterator[str]:
    """Its address. A member of acme is there, and what the script puts into the database."""
    (folder / "static").mkdir()
    # What `collectstatic` would write, without the seconds that it takes: nobody loads the files.
    files = [f"porthole/{file.name}" for file in OUR_FILES.iterdir()]
    manifest = {"version": ManifestFilesMixin.manifest_version, "paths": {name: name for name in files}}
    (folder / "static" / "staticfiles.json").write_text(json.dumps(manifest))
    shutil.copy(databases / "organizations.sqlite3", folder / "porthole.sqlite3")
    env = LOCAL | {"DATA_DIR": str(folder), "TRUSTED_PROXIES": "127.0.0.1"}
    status, said = run("-c", PEOPLE + script, env=env | {"DJANGO_SETTINGS_MODULE": "config.settings"})
    assert status == 0, said
    with gunicorn(env) as server:
        yield f"http://localhost:{server.port}"
