"""What is asked of a database of synthetic organizations, timed: a process of `benchmarks.growth`, of one database.

Reads lines of JSON, each the name of a call and how often, and answers each with a line: the seconds that each took.
"""

import io
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import cache, partial
from itertools import cycle
from typing import Any
from urllib.parse import urlencode

from benchmarks.django_setup import set_up
from benchmarks.servers import CORES

Calls = dict[str, Callable[[], object]]
TOOLS = "/api/v1/tools/"
SYNCED = "growth"
QUERY_OF_TWO, QUERY_OF_NONE = "qj", "nothing like it"


def main() -> None:
    with set_up():
        logging.disable(logging.CRITICAL)
        from django.db import connections
        from django.utils import timezone

        from apps.orgs import app_scope
        from apps.orgs.models import Platform
        from apps.orgs.repositories import LOCAL_CHECKOUT
        from tests.orgs.two_sizes import clock

        connections.settings["default"]["CONN_MAX_AGE"] = None  # the clock is of one server process
        app_scope.clone_url = lambda *_: LOCAL_CHECKOUT  # synthetic applications have no repositories
        synced = Platform.objects.order_by("pk").values_list("last_sync_at", flat=True)[0]
        assert synced
        timezone.now = lambda: synced + timedelta(seconds=40)  # everything was synced so long ago, whenever this runs
        known = calls()
        stay_on_one_core()
        print(json.dumps(list(known)), flush=True)
        for line in sys.stdin:
            name, times = json.loads(line)
            # A sync works in threads and on connections of its own.
            call, now, took = known[name], time.perf_counter if name.startswith("sync") else clock(), []
            for _ in range(times):
                if isinstance(call, Prepared):
                    call.prepare()
                began = now()
                call()
                took.append(now() - began)
            print(json.dumps(took), flush=True)


def stay_on_one_core() -> None:
    """This process and its database server, as those of the other database: the cores of a busy machine differ."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        server = cursor.fetchone()[0]
    for process in (0, server):
        with suppress(PermissionError, ProcessLookupError):  # it is another user's, or on another machine
            os.sched_setaffinity(process, {max(CORES)})


def calls() -> Calls:
    from apps.orgs.models import Organization
    from apps.orgs.scope import scope_by_slug

    found: Calls = {}
    last = Organization.objects.filter(slug__startswith="synthetic-").count() - 1
    for kind, number in (("typical", last), ("large", 0)):
        org = scope_by_slug(f"synthetic-{number}")
        assert org
        token = token_for(org.organization_id)
        for name, (tool, inputs) in asked(org).items():
            found[f"{kind}: {name}"] = partial(post, TOOLS + tool, json.dumps(inputs), token=token)
        middle = deep(org)
        found[f"{kind}: list_deployments from the middle"] = partial(_page, org, middle)
    return found | dict(others())


def asked(org: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """By what they are called, tools and their inputs. Pages are as long in a small organization as in a large one."""
    from apps.installation.synthetic.rows import RARE
    from apps.orgs.models import App, Deployment

    apps = App.objects.filter(organization_id=org.organization_id, hidden_at=None)
    # Of all it is the one with the most deployments and variables.
    first = apps.order_by("external_id")[0]
    app, project = {"applicationId": first.pk}, {"projectId": first.project_id}
    sha = Deployment.objects.filter(organization_id=org.organization_id).order_by("-created_at")[0].commit_sha
    pages: dict[str, dict[str, dict[str, Any]]] = {
        "list_projects": {"": {}, "query": {"query": "a"}, "query of 2, rare": {"query": QUERY_OF_TWO}},
        "list_apps": {
            "": {}, "projectId": project, "status": {"status": "error"}, "status, rare": {"status": "unknown"},
            "branch": {"branch": "develop"}, "health": {"health": "degraded"}, "unhealthy": {"health": "unhealthy"},
            "health, rare": {"health": "unknown"}, "query": {"query": "check"}, "query of 2": {"query": "ch"},
            "query of 2, rare": {"query": QUERY_OF_TWO}, "query of 1, rare": {"query": "!"},
            "query, rare": {"query": RARE}, "query, none": {"query": QUERY_OF_NONE},
            "query, status": {"query": "check", "status": "error"},
        },
        "list_domains": {
            "": {}, "projectId": project, "applicationId": app, "host": {"host": "none.example.com"},
            "certificateExpiresBefore": {"certificateExpiresBefore": "2100-01-01T00:00:00Z"},
        },
        "list_previews": {"": {}, "projectId": project, "status": {"status": "error"}},
        "list_deployments": {
            "": {}, "projectId": project, "applicationId": app, "status": {"status": "failed"},
            "status, rare": {"status": "queued"}, "target": {"target": "preview"}, "branch": {"branch": "develop"},
            "commitSha": {"commitSha": sha}, "applicationId, status": app | {"status": "failed"},
        },
        "list_env_vars": {
            "": {}, "projectId": project, "applicationId": app, "name": {"name": "DATABASE_URL_0"},
            "scope": {"scope": "build"}, "applicationId, scope": app | {"scope": "app"},
        },
        "list_org_secrets": {"": {}},
        "list_templates": {"": {}, "tag": {"tag": "web"}},
    }  # fmt: skip
    limits = {"list_org_secrets": 3, "list_env_vars": 5, "list_previews": 4, "list_domains": 1, "list_projects": 4}
    found = {
        f"{tool} {shown}".strip(): (tool, inputs | {"limit": limits.get(tool, 5 if inputs else 20)})
        for tool, some in pages.items()
        for shown, inputs in some.items()
    }
    return found | {
        "get_account": ("get_account", {}),
        "get_app_health": ("get_app_health", app),
        "search_docs": ("search_docs", {"query": "deploy"}),
        "list_files": ("list_files", app | {"path": "apps"}),
        "get_file": ("get_file", app | {"path": "README.md"}),
    }


def deep(org: Any) -> list[str]:
    """A position with as many deployments before it as after."""
    from apps.orgs.models import Deployment

    deployments = Deployment.objects.filter(organization_id=org.organization_id).order_by("-created_at", "-id")
    created_at, id = deployments.values_list("created_at", "id")[deployments.count() // 2]
    return [created_at.isoformat(), id]


def _page(org: Any, after: list[str]) -> None:
    assert org.deployments().page(after, 20)[0]


def others() -> Iterator[tuple[str, Callable[[], object]]]:
    """Tokens, a sync of an organization of 50 applications, and the lists of the admin."""
    yield from tokens()
    yield from syncs()
    yield from admin_lists()


def tokens() -> Iterator[tuple[str, Callable[[], object]]]:
    from apps.oauthmcp.models import Application
    from apps.orgs.models import Membership
    from tests.oauthmcp import grants

    membership = Membership.objects.select_related("user").order_by("pk")[0]
    client = Application.objects.filter(client_id="growth").first() or grants.make_client(client_id="growth")
    authorization = grants.make_authorization(client, membership)
    newest = [grants.make_refresh_token(authorization)]
    endpoint = "/api/auth/mcp/token"

    def redeem(code: str) -> None:
        form = {"grant_type": "authorization_code", "code": code, "code_verifier": grants.VERIFIER,
                "redirect_uri": grants.REDIRECT_URI}  # fmt: skip
        post_form(endpoint, form)

    def refresh() -> None:
        newest[0] = post_form(endpoint, {"grant_type": "refresh_token", "refresh_token": newest[0]})["refresh_token"]

    codes = iter(lambda: grants.make_code(client, membership), None)
    yield "token endpoint: code", Prepared(partial(next, codes), redeem)
    yield "token endpoint: refresh", refresh


class Prepared:
    """A call for which something is made first, which is not timed."""

    def __init__(self, make: Callable[[], Any], call: Callable[[Any], object]) -> None:
        self.make, self.call, self.made = make, call, None

    def prepare(self) -> None:
        self.made = self.make()

    def __call__(self) -> object:
        return self.call(self.made)


def syncs() -> Iterator[tuple[str, Callable[[], object]]]:
    from apps.orgs.models import Organization
    from apps.platforms.sync.run import sync_platform
    from tests.platforms.memory import Memory, connected, key_of

    Organization.objects.filter(slug=SYNCED).delete()
    memory, platform = Memory.of(50, deployments=10), connected(SYNCED)
    memory.calls_per_minute = 10**9
    sync = partial(sync_platform, platform.pk, connect=lambda _: memory.connector)
    sync()
    states = cycle(("error", "deployed"))

    def change() -> None:
        state = next(states)
        for number in range(10):
            memory.change(key_of(number), status=state)

    yield "sync: unchanged", sync
    yield "sync: 10 of 50 changed", Prepared(change, lambda _: sync())


def admin_lists() -> Iterator[tuple[str, Callable[[], object]]]:
    from django.core.management import call_command

    from apps.oauthmcp import models as oauthmcp
    from apps.orgs import models as orgs
    from apps.orgs.models import User
    from tests.operators import client_of
    from tests.orgs.test_admin_at_scale import address_of

    call_command("collectstatic", interactive=False, verbosity=0)
    email = "growth@example.com"
    operator = client_of(User.objects.filter(email=email).first() or User.objects.create_superuser(email, "x"))
    lists = (
        orgs.Organization, orgs.Project, orgs.Environment, orgs.App, orgs.Domain, orgs.Preview, orgs.Deployment,
        orgs.EnvVarName, orgs.OrgSecretName, orgs.Template, orgs.User, orgs.Platform, orgs.SourceConnection,
        oauthmcp.Authorization, oauthmcp.AccessToken, oauthmcp.RefreshToken,
    )  # fmt: skip
    addresses = {"overview": ("/admin/", {})}
    for model in lists:
        addresses[model.__name__] = (address_of(model), {})
        if "organization" in {field.name for field in model._meta.fields}:
            addresses[f"{model.__name__} of one organization"] = (address_of(model), {"organization": "synthetic-0"})
    for model, query in ((orgs.App, "zebra"), (orgs.Deployment, "nothing like it"), (orgs.User, "member-77@")):
        addresses[f"{model.__name__}, search"] = (address_of(model), {"q": query})

    def get(address: str, parameters: dict[str, str]) -> None:
        answer = operator.get(address, parameters)
        assert answer.status_code == 200, (address, answer.status_code)

    for name, (address, parameters) in addresses.items():
        yield f"admin: {name}", partial(get, address, parameters)


def token_for(organization_id: str) -> str:
    from apps.oauthmcp.models import Application
    from apps.orgs.models import Membership
    from tests.oauthmcp import grants

    membership = Membership.objects.select_related("user").filter(organization_id=organization_id).order_by("pk")[0]
    client = Application.objects.get(client_id="synthetic")
    return grants.make_access_token(grants.make_authorization(client, membership))


def post(path: str, body: str, token: str = "", kind: str = "application/json") -> Any:
    """What a call of this process' own handler answers."""
    sent = body.encode()
    environ = {
        "REQUEST_METHOD": "POST", "PATH_INFO": path, "QUERY_STRING": "", "SERVER_NAME": "localhost",
        "SERVER_PORT": "8570", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost:8570",
        "REMOTE_ADDR": "127.0.0.1", "CONTENT_TYPE": kind, "CONTENT_LENGTH": str(len(sent)),
        "wsgi.input": io.BytesIO(sent), "wsgi.url_scheme": "http", "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
    } | ({"HTTP_AUTHORIZATION": f"Bearer {token}"} if token else {})  # fmt: skip
    statuses: list[str] = []
    response = handler()(environ, lambda status, headers: statuses.append(status))
    content = b"".join(response)
    response.close()
    assert statuses[0].startswith("200"), (path, body, statuses, content[:300])
    return content


def post_form(path: str, fields: dict[str, str]) -> Any:
    form = urlencode(fields | {"client_id": "growth"})
    return json.loads(post(path, form, kind="application/x-www-form-urlencoded"))


@cache
def handler() -> Any:
    from django.core.handlers.wsgi import WSGIHandler

    return WSGIHandler()


if __name__ == "__main__":
    main()
