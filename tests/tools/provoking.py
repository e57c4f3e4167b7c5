"""Both doors as one caller meets them, and ways to provoke an error there."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from io import BytesIO
from typing import Any

from apps.oauthmcp import bearer
from apps.orgs.callers import SCOPES
from apps.sources.docs import corpus
from apps.sources.git import repository, scans
from apps.sources.git.fetch import AccessDenied
from apps.sources.git.generations import ResolvedRef
from apps.sources.git.mirrors import Mirror
from apps.sources.git.objects import open_at
from apps.sources.git.refs import ref_not_found
from apps.tools import throttle
from apps.tools.registry import TOOLS
from apps.web.exceptions import Unavailable
from apps.web.limits import Buckets
from tests.api import Api
from tests.factories import Fill, make_app
from tests.sources.git.origins import Link, Submodule
from tests.tools.catalog.conftest import Checkout
from tests.tools.mcp.speaking import HANDSHAKE, MODERN, REQUEST, Mcp, failure

NOBODYS = "0" * 26
TREE = {
    "README.md": "aé\nb\n",
    "logo.png": b"\xff\x00",
    "src": {"app.py": "x"},
    "7": "",
    "link": Link("README.md"),
    "vendored": Submodule("1" * 40),
    ".gitmodules": "[submodule]",
    ".env": "X=1",
    "big": "x" * 2**20,
    "wide": {f"{number:03}": "" for number in range(40)},
}


class World:
    """Both doors as acme, whose application is built from a checkout; rival is there as well."""

    def __init__(self, api: Api, acme: Fill, rival: Fill, checkout: Checkout, patch: Any, settings: Any) -> None:
        self.api, self.acme, self.rival, self.checkout = api, acme, rival, checkout
        self.patch, self.settings, self.app = patch, settings, acme.app.id
        self.mcp, self.handshake = Mcp(api.bearer, MODERN), Mcp(api.bearer, HANDSHAKE[0])

    @cached_property
    def commit(self) -> str:
        """What is in the checkout, from when it is asked for."""
        return self.checkout.commit(TREE)

    def call(self, tool: str, **inputs: Any) -> Any:
        """What both doors answer. `applicationId` is acme's where a tool needs one."""
        if TOOLS[tool].input.fields.get("path"):
            assert self.commit
            inputs = {"applicationId": self.app} | inputs
        response = self.api.post(tool, inputs)
        body = response.json()  # type: ignore[attr-defined]
        if response.status_code in (422, 503):
            told = failure(self.mcp.tool(tool, **inputs))
            assert (told["code"], told["detail"]) == (body["code"], body["detail"])
            assert str(told.get("retryAfterSeconds", "")) == response.headers.get("Retry-After", "")
        return response

    def body(self, body: bytes, **headers: str) -> Any:
        return self.api.post("list_apps", body, **headers)

    def rpc(self, *without: str, **changed: Any) -> Any:
        message = {name: value for name, value in (REQUEST | changed).items() if name not in without}
        return self.handshake.post(message)


def get(**inputs: Any) -> Callable[..., Any]:
    """get_file, of README.md unless they say otherwise. It takes no notice of what is in the holes."""
    return lambda w, *_: w.call("get_file", **{"path": "README.md"} | inputs)


def tool(name: str, /, **inputs: Any) -> Callable[..., Any]:
    return lambda w, *_: w.call(name, **inputs)


def body(content: bytes, **headers: str) -> Callable[..., Any]:
    return lambda w, *_: w.body(content, **headers)


def rpc(*without: str, **changed: Any) -> Callable[..., Any]:
    return lambda w, *_: w.rpc(*without, **changed)


def modern(method: str = "tools/list", params: Any = None, **headers: Any) -> Callable[..., Any]:
    return lambda w, *_: w.mcp.send(method, params, **headers)


def first_page(w: World) -> Any:
    uri = w.rpc(method="resources/list").json()["result"]["resources"][0]["uri"]
    return w.rpc(method="resources/read", params={"uri": uri})


LIST_APPS, FINE = tool("list_apps"), body(b"{}")


def named(w: World) -> Any:
    make_app(w.acme.project, "Web Shop", slug="shop")
    return w.call("get_app_health", applicationId="shop")


def without_repository(w: World) -> Any:
    w.app = make_app(w.acme.project, "image").id
    return get()(w)


def at_plain_http(w: World) -> Any:
    w.app = make_app(w.acme.project, "plain", source_type="gitea", repository="a/b", connection=w.acme.connection).id
    with w.patch.context() as patch:
        patch.setattr("apps.orgs.app_scope.clone_url", lambda *_: "http://git.example.com/a/b.git")
        return get()(w)


def at_private_repository(w: World) -> Any:
    w.app = make_app(w.acme.project, "private", source_type="gitea", repository="a/b", connection=w.acme.connection).id
    with w.patch.context() as patch:
        patch.setattr("apps.sources.git.upstream.source_of", refused)
        return get()(w)


def refused(*_: Any) -> Any:
    raise AccessDenied("git ended with 128")


def without_checkout(w: World) -> Any:
    w.settings.BASE_DIR = w.checkout.folder / "src"
    return get()(w)


def one_that_has_one(w: World, *_: Any) -> Any:
    w.settings.BASE_DIR = w.checkout.folder
    apps = w.api("list_apps")["items"]
    (w.app,) = [app["id"] for app in apps if app["source"]["repository"] == "local:checkout"]
    return get()(w)


def without_a_commit(w: World) -> Any:
    w.acme.app.branch = "gone"
    w.acme.app.save()
    w.checkout.repository.set_head("refs/heads/nothing")
    return get()(w)


def of_a_branch_that_is_gone(w: World) -> Any:
    """Of a mirror, whose repository has HEAD and no branch of this name."""

    def latest(_: Any, ref: str, known: Any) -> ResolvedRef:
        if ref != "HEAD":
            raise ref_not_found()
        return ResolvedRef(w.checkout.folder, w.commit, 0.0, is_stale=False)

    w.patch.setattr(Mirror, "latest", latest)
    w.patch.setattr(Mirror, "open", lambda _, folder: open_at(folder))
    told = {"source_type": "gitea", "repository": "a/b", "branch": "gone"}
    w.app = make_app(w.acme.project, "gone", connection=w.acme.connection, **told).id
    return get()(w)


def with_a_commit(w: World, *_: Any) -> Any:
    w.checkout.commit(TREE, "nothing")
    return get()(w)


def in_a_clone(path: str) -> Callable[..., Any]:
    def read(w: World, *_: Any) -> Any:
        assert path in w.checkout.repository[w.commit].tree
        return LIST_APPS(w)

    return read


def wide(w: World) -> Any:
    w.patch.setattr(repository, "MAX_TREE_BYTES", 800)
    return w.call("list_files", path="wide")


def too_slow(w: World) -> Any:
    with w.patch.context() as patch:
        patch.setattr(scans, "_kept", OrderedDict())
        patch.setattr(scans, "search", lambda _: None)
        return w.call("get_file", path="README.md")


def a_cursor(w: World) -> str:
    return str(w.call("list_files", limit=1).json()["nextCursor"])


def one_from_a_list(w: World, *_: Any) -> Any:
    items = w.call("list_files").json()["items"]
    return get(path=next(item["path"] for item in items if item["path"].endswith(".md")))(w)


def cut_off(w: World) -> Any:
    sent = {"CONTENT_LENGTH": "9", "wsgi.input": BytesIO(b"{}"), "HTTP_AUTHORIZATION": f"Bearer {w.api.bearer}"}
    return w.api.client.generic("POST", "/api/v1/tools/list_apps", b"{}", "application/json", **sent)


def of_a_lost_commit(w: World) -> Any:
    cursor = a_cursor(w)
    w.patch.setattr(repository, "commit_with", lambda *_: None)
    return w.call("list_files", limit=1, cursor=cursor)


def failing(error: Exception) -> Callable[..., Any]:
    def ask(w: World) -> Any:
        def run(*_: Any, **__: Any) -> None:
            raise error

        with w.patch.context() as patch:
            patch.setattr(type(TOOLS["list_apps"]), "run", run)
            return LIST_APPS(w)

    return ask


def damaged(w: World) -> Any:
    with w.patch.context() as patch:
        patch.setattr(repository, "open_at", lambda _: (_ for _ in ()).throw(OSError("/srv/hunter2")))
        return get()(w)


def away(error: Any) -> Callable[..., Any]:
    """The documentation index: search_docs as it is answered then."""

    def ask(w: World) -> Any:
        with w.patch.context() as patch:
            patch.setattr(corpus, "search", lambda *_: (_ for _ in ()).throw(Unavailable(error, 5)))
            return w.call("search_docs", query="x")

    return ask


def too_often(w: World) -> Any:
    w.settings.RATE_LIMITS = True
    w.patch.setattr(throttle, "_buckets", Buckets(burst=1, per_second=1 / 3))
    w.body(b"{}")
    told = w.mcp.send("tools/list")
    assert told.json()["error"]["data"]["retryAfterSeconds"] == int(told["Retry-After"]) == 3
    return w.body(b"{}")


def later(w: World, *_: Any) -> Any:
    w.patch.setattr(throttle, "_buckets", Buckets(burst=1, per_second=1 / 3))
    return w.body(b"{}")


def narrowed(w: World) -> Any:
    w.patch.setattr(bearer, "ALL_SCOPES", frozenset(SCOPES) - {"apps:read"})
    return w.body(b"{}")


def with_scope(w: World, scope: str) -> Any:
    w.patch.setattr(bearer, "ALL_SCOPES", frozenset({scope}))
    return w.body(b"{}")


def with_bearer(value: str | None) -> Callable[..., Any]:
    return lambda w: Api(value).post("list_apps", {})
