"""Uses the client that openapi-python-client makes of openapi.json. mypy reads it; it is never run."""

from collections.abc import Iterator
from datetime import datetime

from porthole_client import AuthenticatedClient
from porthole_client.api.account import get_account
from porthole_client.api.apps import list_apps, list_deployments
from porthole_client.api.config import list_env_vars
from porthole_client.api.files import get_file, list_files
from porthole_client.api.oauth import register_client
from porthole_client.models import (
    Account,
    App,
    ClientInformation,
    ClientRegistration,
    DeploymentStatus,
    Error,
    GetFileInput,
    InvalidInput,
    ListAppsInput,
    ListDeploymentsInput,
    ListEnvVarsInput,
    ListFilesInput,
)
from porthole_client.types import UNSET

client = AuthenticatedClient(base_url="http://localhost:8000", token="porthole-local-dev")


def apps() -> Iterator[App]:
    """Every app, page by page."""
    cursor: str | None = None
    while True:
        page = list_apps.sync(client=client, body=ListAppsInput(limit=50, cursor=cursor or UNSET))
        if page is None or isinstance(page, Error | InvalidInput):
            raise RuntimeError(sentence(page))
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def last_failure(application_id: str) -> tuple[datetime, str | None] | None:
    body = ListDeploymentsInput(application_id=application_id, status=DeploymentStatus.FAILED, limit=1)
    page = list_deployments.sync(client=client, body=body)
    if page is None or isinstance(page, Error | InvalidInput):
        raise RuntimeError(sentence(page))
    return next(((deployment.created_at, deployment.error_message) for deployment in page.items), None)


def readme(application_id: str) -> str:
    file = get_file.sync(client=client, body=GetFileInput(application_id=application_id, path="README.md"))
    if file is None or isinstance(file, Error | InvalidInput):
        raise RuntimeError(sentence(file))
    return file.content


def account() -> Account | Error | InvalidInput | None:
    """A call without input needs no body."""
    return get_account.sync(client=client)


def register() -> ClientInformation:
    """What needs no token asks with the same client."""
    said = ClientRegistration(redirect_uris=["http://127.0.0.1/callback"], client_name="Deploy watcher")
    answer = register_client.sync(client=client, body=said)
    if not isinstance(answer, ClientInformation):
        raise RuntimeError(answer.error if answer else "an answer that the schema does not know")
    return answer


def sentence(error: Error | InvalidInput | None) -> str:
    if isinstance(error, InvalidInput):
        return "\n".join(f"{'.'.join(problem.loc)}: {problem.msg}" for problem in error.detail)
    return error.detail if error else "an answer that the schema does not know"


# What must not pass: mypy reports an ignore that nothing needs.
ListAppsInput(limit="7")  # type: ignore[arg-type]
ListAppsInput(projectId="prj_")  # type: ignore[call-arg]
ListAppsInput(cursor=None)  # type: ignore[arg-type]
ListFilesInput(limit=1)  # type: ignore[call-arg]
list_files.sync(client=client)  # type: ignore[call-arg]


def names(application_id: str) -> list[str]:
    page = list_env_vars.sync(client=client, body=ListEnvVarsInput(application_id=application_id))
    if page is None or isinstance(page, Error | InvalidInput):
        raise RuntimeError(sentence(page))
    [variable.value for variable in page.items]  # type: ignore[attr-defined]
    return [variable.name for variable in page.items]
