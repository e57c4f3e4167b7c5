"""A private repository behind a web server that others wrote: lighttpd and `git http-backend`, over TLS."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.net.encryption import encrypt_credential
from apps.orgs.models import SourceConnection
from apps.sources.git import mirrors
from apps.sources.models import SourceCredentials
from tests.api import Api
from tests.config.server import free_port, wait_until_open
from tests.factories import START, Fill, make, make_app
from tests.fakes import certificates
from tests.sources.conftest import settle
from tests.sources.git.origins import Origin

LIGHTTPD = shutil.which("lighttpd") or shutil.which("lighttpd", path="/usr/sbin")
pytestmark = [
    pytest.mark.soak,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("database_for_many", "opened"),
    pytest.mark.skipif(LIGHTTPD is None, reason="lighttpd is not installed"),
]
SECRET = "canary-of-the-token-0123456789abcdef"
CONFIGURATION = """
server.modules = ("mod_openssl", "mod_access", "mod_auth", "mod_authn_file", "mod_alias", "mod_setenv", "mod_cgi")
server.document-root = "FOLDER/nothing"
server.bind = "127.0.0.1"
server.port = PORT
server.errorlog = "FOLDER/error.log"
server.upload-dirs = ("FOLDER")
ssl.engine = "enable"
ssl.pemfile = "FOLDER/site.pem"
$HTTP["url"] =~ "^/git/" {
    alias.url = ("/git" => "BACKEND")
    cgi.assign = ("" => "")
    setenv.add-environment = ("GIT_PROJECT_ROOT" => "FOLDER/repositories")
RULE
}
"""
BASIC = """
    auth.backend = "plain"
    auth.backend.plain.userfile = "FOLDER/users"
    auth.require = ("" => ("method" => "basic", "realm" => "git", "require" => "valid-user"))
"""
BEARER = """
    $REQUEST_HEADER["Authorization"] != "Bearer SECRET" { url.access-deny = ("") }
"""


@pytest.fixture(params=["basic", "access_token"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(tmp_path: Path, kind: str) -> Iterator[str]:
    """Of the web server, which takes one kind of credentials. It has one repository."""
    folder, port = tmp_path / "web", free_port()
    (folder / "nothing").mkdir(parents=True)
    repository = folder / "repositories" / "acme" / "shop.git"
    repository.mkdir(parents=True)
    Origin(repository).commit({"README.md": "private", "src": {"main.py": "print()\n"}})
    (repository / "git-daemon-export-ok").touch()
    (folder / "site.pem").write_bytes(certificates.site("localhost"))
    (folder / "users").write_text(f"reader:{SECRET}\n")
    backend = Path(subprocess.check_output(["git", "--exec-path"], text=True).strip(), "git-http-backend")
    text = CONFIGURATION.replace("RULE", BASIC if kind == "basic" else BEARER)
    for name, value in (("FOLDER", folder), ("PORT", port), ("BACKEND", backend), ("SECRET", SECRET)):
        text = text.replace(name, str(value))
    (folder / "configuration").write_text(text)
    assert LIGHTTPD
    with subprocess.Popen([LIGHTTPD, "-D", "-f", str(folder / "configuration")]) as process:
        try:
            wait_until_open(port)
            yield f"https://localhost:{port}/git"
        finally:
            settle()
            process.terminate()


def test_it_is_read_with_an_operators_credentials_and_not_without(api: Api, acme: Fill, url: str, kind: str) -> None:
    app = make_app(acme.project, "shop", source_type="git", repository=f"{url}/acme/shop.git", branch="main")

    def ask(tool: str, **inputs: Any) -> Any:
        mirrors._failures.forget()
        return api(tool, applicationId=app.id, **inputs)

    assert api.refused("get_file", applicationId=app.id, path="README.md") == [("applicationId", "no_repository")]
    connection = make(SourceConnection, acme.organization, type="git", name="own", base_url=url,
        credentials="missing", own_credentials="working")  # fmt: skip
    SourceCredentials.objects.create(
        connection=connection, base_url=url, encrypted_secret=encrypt_credential(SECRET), checked_at=START, kind=kind,
        username="reader" if kind == "basic" else None,
    )  # fmt: skip
    assert ask("get_file", path="README.md")["content"] == "private"
    assert [entry["path"] for entry in ask("list_files", path="src")["items"]] == ["src/main.py"]
