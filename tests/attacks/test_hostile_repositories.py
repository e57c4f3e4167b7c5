"""Hostile paths, refs, addresses and trees, through the tools: the right refusal or the right content, and no more."""

import json
import os
import time
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from apps.net import outbound
from apps.sources.git import mirrors, remotes, upstream
from apps.sources.git import repository as git
from tests.api import Api
from tests.attacks.conftest import Shop, bytes_in
from tests.attacks.hostile_repositories import (
    ATTRIBUTES,
    CONFIG,
    HOOK,
    LFS,
    MIB,
    MODES,
    MODULES,
    NAMES,
    Museum,
    museum,
)
from tests.factories import Fill
from tests.fakes import certificates
from tests.fakes.git_remote import GitRemote
from tests.patience import patience
from tests.sources.conftest import opened, remote, settle

__all__ = ["opened", "remote"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nobody", "logged")]


@pytest.fixture(scope="module")
def exhibited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GitRemote, Museum, Path]]:
    """The museum, its host, and a DATA_DIR for all who look at it."""
    folder = tmp_path_factory.mktemp("museum")
    (folder / "data").mkdir()
    with GitRemote(folder / "host", certificates.context("localhost")) as host:
        yield host, museum(host), folder / "data"


@pytest.fixture
def exhibits(opened: None, exhibited: tuple[GitRemote, Museum, Path], settings: Any) -> Iterator[Museum]:
    settings.DATA_DIR = exhibited[2]
    yield exhibited[1]
    settle()


@pytest.fixture
def app(exhibits: Museum, exhibited: tuple[GitRemote, Museum, Path], shop: Shop) -> str:
    return shop(f"{exhibited[0].url}/acme/museum.git").id


def outcome(api: Api, tool: str, **inputs: Any) -> Any:
    """What is told of it: the type of a refusal, a file's content, or the names in a folder."""
    response = api.post(tool, inputs)
    told = json.loads(response.content)
    if response.status_code == 422:
        (problem,) = told["detail"]
        return f"{problem['loc'][-1]}: {problem['type']}"
    assert response.status_code == 200, told
    return told["content"] if tool == "get_file" else [item["name"] for item in told["items"]]


# Names and paths

NOT_THERE, ONLY_A_DIRECTORY = "path: path_not_found", "path: is_directory"


@pytest.mark.soak
def test_whatever_a_file_is_called_it_is_listed_and_read(api: Api, app: str) -> None:
    listed = [item["name"] for item in api.walk("list_files", applicationId=app)]
    for name in NAMES:
        assert outcome(api, "get_file", applicationId=app, path=name) == name
        assert (name if len(name) <= 255 else f"{name[:254]}…") in listed
        assert outcome(api, "list_files", applicationId=app, path=name) == "path: not_a_directory"


def test_a_mode_that_git_does_not_know_is_that_of_a_file(api: Api, app: str) -> None:
    for mode in MODES:
        assert outcome(api, "get_file", applicationId=app, path=f"mode-{mode.decode()}") == "odd"


PATHS = [
    # Names that are in the tree, and that nobody can ask for.
    (".git", NOT_THERE), (".GIT", NOT_THERE), ("..", NOT_THERE), (".", NOT_THERE), ("\ufffd\ufffd", NOT_THERE),
    ("m" * 254 + "…", NOT_THERE), ("m" * 1025, "path: max_length"),
    # Ways out.
    ("../museum", NOT_THERE), ("files/../README", NOT_THERE), ("/etc/passwd", NOT_THERE), ("/", NOT_THERE),
    ("files//lfs.bin", NOT_THERE), ("files\\lfs.bin", NOT_THERE), ("./README", NOT_THERE), ("ReadMe", NOT_THERE),
    ("files/.git/config", NOT_THERE), (".Git/HEAD", NOT_THERE), ("%2e%2e/x", NOT_THERE), ("README/",
    "path: not_a_directory"),
    ("cafe\u0301/..", NOT_THERE), ("README\x1b[31m", NOT_THERE), ("README\n", NOT_THERE), ("README ", NOT_THERE),
    ("README:$DATA", NOT_THERE), ("refs/heads/main", NOT_THERE), ("config", NOT_THERE),
    ("file:///etc/passwd", NOT_THERE), ("--help", NOT_THERE), ("README\0", "body: json_invalid"),
    # Links are told, never followed.
    ("links/absolute", "/etc/passwd"), ("links/out", "../../../../../etc/passwd"), ("links/self", "self"),
    ("links/a", "b"), ("links/b", "a"), ("links/dir", "../files"), ("links/root", "/"), ("links/up", ".."),
    ("links/env", "../files/.env"), ("links/red", "\x1b[31m\n/etc"), ("links/long", "path: too_large"),
    ("links/dir/lfs.bin", NOT_THERE), ("links/self/self", NOT_THERE), ("links/root/etc/passwd", NOT_THERE),
    ("links/up/README", NOT_THERE), ("links/absolute/", "path: not_a_directory"),
    # What git would act on is only text.
    ("files/lfs.bin", LFS), ("files/.gitmodules", MODULES), ("files/.gitattributes", ATTRIBUTES),
    ("files/.gitconfig", CONFIG), ("files/hooks/post-checkout", HOOK), ("files/.env", "path: secret_file"),
    ("files/vendored", ONLY_A_DIRECTORY), ("files/vendored/x", NOT_THERE), ("files/large", "path: too_large"),
    ("files/empty", ""), ("nothing", ONLY_A_DIRECTORY), ("nothing/x", NOT_THERE),
    # Depth.
    ("deep/" + "d/" * 300 + "f", "deep"), ("deep/" + "d/" * 301 + "f", NOT_THERE),
    ("deep/" + "d/" * 299 + "d", ONLY_A_DIRECTORY), ("abyss/" + "d/" * 500 + "d", ONLY_A_DIRECTORY),
    ("abyss/" + "d/" * 500 + "f", NOT_THERE), ("abyss/" + "d/" * 5000 + "f", "path: max_length"),
]  # fmt: skip
FOLDERS = [
    ("links/dir", "path: not_a_directory"), ("links/root", "path: not_a_directory"), ("links/dir/hooks", NOT_THERE),
    ("links/self/self/self", NOT_THERE), ("files/vendored", "path: not_a_directory"), ("files/hooks",
    ["post-checkout"]),
    ("nothing", []), ("deep/" + "d/" * 299 + "d", ["f"]), ("abyss/" + "d/" * 500 + "d", ["d"]), ("..", NOT_THERE),
    (".git", NOT_THERE), ("files/../files", NOT_THERE), ("/files", NOT_THERE), ("FILES", NOT_THERE),
]  # fmt: skip


def test_a_hostile_path_is_refused_or_read_as_what_it_names(api: Api, app: str) -> None:
    told = [(path, outcome(api, "get_file", applicationId=app, path=path)) for path, _ in PATHS]
    assert told == PATHS


def test_only_a_folder_is_listed(api: Api, app: str) -> None:
    told = [(path, outcome(api, "list_files", applicationId=app, path=path)) for path, _ in FOLDERS]
    assert told == FOLDERS


def test_nothing_in_the_repository_is_run_and_what_is_large_stays_away(
    api: Api, app: str, exhibited: tuple[GitRemote, Museum, Path]
) -> None:
    host, _, data = exhibited
    sizes = {item["name"]: item["size"] for item in api("list_files", applicationId=app, path="files")["items"]}
    assert (sizes["large"], sizes["vendored"], sizes["lfs.bin"]) == (None, None, len(LFS))
    assert {path.split(".git/")[0] for path, _ in host.sent} == {"/acme/museum"}
    assert bytes_in(data) < 8 * MIB
    assert not list(data.parent.rglob("pwned"))


# Refs

NO_REF = "ref: ref_not_found"
REFS = [
    "-x", "--upload-pack=touch pwned", "--exec=touch pwned", "-u./x", "main..other", "main...x", "..", ".", "../main",
    "main~1", "main^", "main^{tree}", "main^{/x}", "main@{1}", "@{u}", "@{-1}", "@", "main:README", ":/Odd", "::",
    "+main",
    "main:refs/heads/x", "refs/heads/*", "*", "ma?n", "[m]ain", "main ", " main", "ma in", "main\n", "\nmain",
    "main\r\nx",
    "main\x1b[31m", "\x07", "main\x7f", "main.lock", "main/", "/main", "a//main", ".main", "a/.main", "main.", "\\main",
    "refs/pull/1/head", "pull/1/head", "refs/mirror/x", "refs/remotes/x/y", "refs/notes/commits", "refs/stash", "refs/",
    "refs/heads/", "refs/heads/../tags/x", "heads/main", "m\u0430in",
    "\u202eniam", "x" * 255, "$(touch pwned)", "0" * 40, 
    "refs/tags/main", "chain-5", "blob-itself", "tree-itself",
    "large-itself", "=blob", "=large", "=twins", "=tag",
]  # fmt: skip


READ = [
    ("HEAD", "head"), ("refs/heads/main", "head"), ("chain-1", "head"), ("chain-2", "head"), ("chain-4", "head"),
    ("refs/heads/HEAD", "other"),
]  # fmt: skip
BOUNDS = [
    ("x" * 256, "max_length"),
    ("\u0416" * 300, "max_length"),
    ("", "blank"),
    ("a\0b", "json_invalid"),
]


@pytest.mark.soak
def test_a_ref_that_is_none_is_not_found(
    api: Api, app: str, exhibits: Museum, exhibited: tuple[GitRemote, Museum, Path]
) -> None:
    """`=blob` is the id of that object. What a ref costs is bounded, and nothing else is spoiled by it."""
    for branch in ("twin-0", "twin-1"):
        assert outcome(api, "list_files", applicationId=app, ref=branch) == []
    told = {}
    for ref in REFS:
        mirrors._missing_refs.forget()
        before = len(exhibited[0].sent)
        asked = exhibits.shas[ref[1:]] if ref.startswith("=") else ref
        told[ref] = outcome(api, "list_files", applicationId=app, ref=asked)
        assert len(exhibited[0].sent) - before <= 6
    assert told == dict.fromkeys(REFS, NO_REF)
    assert outcome(api, "get_file", applicationId=app, path="README") == "README"
    assert not list(exhibited[2].parent.rglob("pwned"))


@pytest.mark.soak
def test_a_ref_that_leads_to_a_commit_is_read(api: Api, app: str, exhibits: Museum) -> None:
    for ref, expected in READ:
        assert api("list_files", applicationId=app, ref=ref, limit=1)["commitSha"] == exhibits.shas[expected]


def test_a_ref_has_bounds(api: Api, app: str) -> None:
    for ref, expected in BOUNDS:
        assert outcome(api, "list_files", applicationId=app, ref=ref).endswith(f": {expected}")


# Addresses

NO_REPOSITORY = "applicationId: no_repository"
ADDRESSES = [
    "file:///etc", "/etc", "../..", ".", "ssh://git@localhost/x", "git@localhost:x.git", "git://localhost/x",
    "ext::sh -c touch% pwned", "http://localhost/x", "ftp://localhost/x", "HTTPS://localhost/x", "https:/localhost/x",
    "https:localhost", "--upload-pack=touch pwned", "-oProxyCommand=x", "fd::17", "https::https://localhost/x",
    "https://u@localhost/x", "https://u:p@localhost/x", "https://@localhost/x", "https://localhost/x?a=b",
    "https://localhost/x?",
    "https://localhost/x#a", "https://localhost/x#", "https://localhost:0/x", "https://localhost:65536/x",
    "https://localhost:44x/x", "https://localhost:-1/x", "https://localhost:443:443/x", "https://127.1/x",
    "https://0x7f.1/x", "https://0177.0.0.1/x", "https://2130706433/x", "https://[fe80::1%25eth0]/x", "https://[::1/x",
    "https://[127.0.0.1]/x", f"https://{'a' * 300}/x", f"https://{'a.' * 140}b/x", "https://localhost./x",
    "https://a..b/x",
    "https:///x", "https://", "https://local host/x", "https://localhost\\@x/x", "https://localhost/x y",
    "https://localhost/x\nHost: y", "https://localhost/x\x1b[31m", "https://\u24dbocalhost/x",
    "https://loc\u0430lhost/x",
    "https://localhost\u3002evil/x", "https://localhost/../x", "https://localhost/a/./x",
    "https://localhost/a/%2E%2e/x",
    "https://localhost/..", "https://-localhost/x", "https://localhost/\"x", "https://a.1/x", "https://localhost/{x}",
    "https://$GIT_DIR/x", "local:elsewhere",
]  # fmt: skip
UNREACHABLE = [
    "https://localhost/x", "https://LOCALHOST/x", "https://127.0.0.1/x", "https://127.0.0.1:8000/x", "https://[::1]/x",
    "https://[::]/x", "https://[::ffff:7f00:1]/x", "https://[64:ff9b::7f00:1]/x", "https://[2002:7f00:1::]/x",
    "https://0.0.0.0/x", "https://169.254.169.254/latest/meta-data", "https://10.0.0.1/x", "https://192.168.1.1/x",
    "https://172.16.0.1/x", "https://100.64.0.1/x", "https://224.0.0.1/x", "https://255.255.255.255/x",
    "https://[fd00::1]/x", "https://[fe80::1]/x", "https://inside.example/x", "https://xn--80ak6aa92e.example/x",
    "https://a_b.example/x", "https://both.example/x",
]  # fmt: skip

ODD_NAMES = [
    "../../x", "a/../../x", "a/b?x", "a/b#x", "a b/c", "a/b\nc", "a/./b", "a/%2e%2e/b", "a\\b", "a/\u202eb",
]  # fmt: skip


def resolved(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
    """A resolver: nothing is asked outside this process."""
    names = {"localhost": ["127.0.0.1"], "inside.example": ["10.1.2.3"], "both.example": ["1.1.1.1", "127.0.0.1"]}
    literal = [host] if outbound._is_literal(host) else []
    found = names.get(host, literal)
    if not found:
        raise OSError("There is no such name.")
    return [(0, 0, 0, "", (address, port)) for address in found]


@pytest.fixture
def runs(opened: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What git was told to run: nobody has opened a private network."""
    settings.SOURCE_NETWORKS = []
    found: list[Any] = []
    monkeypatch.setattr(upstream, "run", lambda command, *_, **__: found.append(command))
    monkeypatch.setattr(
        remotes, "resolve_allowed", lambda to, **more: outbound.resolve_allowed(to, **more, resolve=resolved)
    )
    return found


def test_an_address_that_is_not_plain_https_is_no_repository(
    api: Api, shop: Shop, runs: list[Any], settings: Any
) -> None:
    told = {url: outcome(api, "list_files", applicationId=shop(url).id) for url in ADDRESSES}
    assert told == dict.fromkeys(ADDRESSES, NO_REPOSITORY)
    assert (runs, list(settings.DATA_DIR.iterdir())) == ([], [])


def test_an_address_that_leads_inside_is_unavailable_and_git_never_runs(
    api: Api, shop: Shop, runs: list[Any], settings: Any
) -> None:
    for address in UNREACHABLE:
        response = api.post("list_files", {"applicationId": shop(address).id})
        assert (address, response.status_code) == (address, 503)
        assert not any(
            word in response.content.decode() for word in ("address", "127.", "10.1", "localhost", "example")
        )
    settle()
    assert (runs, list(settings.DATA_DIR.glob("mirrors/*/*-*"))) == ([], [])


def test_a_name_at_a_known_host_is_only_a_name(api: Api, shop: Shop, runs: list[Any]) -> None:
    told = {name: outcome(api, "list_files", applicationId=shop(name, source_type="github").id) for name in ODD_NAMES}
    assert told == dict.fromkeys(ODD_NAMES, NO_REPOSITORY)
    assert runs == []


# Size


@pytest.mark.soak
def test_a_hundred_thousand_files_in_a_folder_are_told_page_by_page(api: Api, remote: GitRemote, shop: Shop) -> None:
    app = crowded(remote, shop)
    began = time.monotonic()
    first = api("list_files", applicationId=app, limit=1000)
    assert time.monotonic() - began < patience(3)
    began = time.monotonic()
    second = api("list_files", applicationId=app, limit=1000, cursor=first["nextCursor"])
    assert time.monotonic() - began < patience(2)
    assert second["items"][0]["name"] == f"f{len(first['items']):06}"
    assert outcome(api, "get_file", applicationId=app, path="f099999") == "x"
    settle()
    assert bytes_in(mirrors.settings.DATA_DIR) < 4 * MIB


@pytest.mark.soak
def test_a_walk_over_a_hundred_thousand_files_sees_each_once(api: Api, remote: GitRemote, shop: Shop) -> None:
    walked = api.walk("list_files", applicationId=crowded(remote, shop), limit=1000)
    assert [item["name"] for item in walked] == [f"f{number:06}" for number in range(100_000)]


def crowded(remote: GitRemote, shop: Shop) -> str:
    origin = remote.origin("acme/crowd")
    blob = str(origin.repository.create_blob(b"x"))
    origin.commit_tree(origin.raw_tree(*((b"100644", b"f%06d" % number, blob) for number in range(100_000))))
    return shop(f"{remote.url}/acme/crowd.git").id


@pytest.mark.soak
def test_a_hundred_thousand_files_in_a_thousand_folders(api: Api, remote: GitRemote, shop: Shop) -> None:
    origin = remote.origin("acme/crowd")
    blob = str(origin.repository.create_blob(b"x"))
    folders = [
        origin.raw_tree(*((b"100644", b"f%03d-%02d" % (folder, number), blob) for number in range(100)))
        for folder in range(1000)
    ]
    origin.commit_tree(origin.raw_tree(*((b"40000", b"d%03d" % at, str(one)) for at, one in enumerate(folders))))
    app = shop(f"{remote.url}/acme/crowd.git").id
    assert len(api.walk("list_files", applicationId=app, limit=1000)) == 1000
    assert len(outcome(api, "list_files", applicationId=app, path="d999")) == 100


def test_directories_on_a_path_are_too_large_together_too(api: Api, app: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is small enough, and there may be 500 of them on a path."""
    monkeypatch.setattr(git, "MAX_TREE_BYTES", 8000)
    path = "deep/" + "d/" * 300 + "f"
    assert outcome(api, "get_file", applicationId=app, path="files/empty") == ""
    assert outcome(api, "get_file", applicationId=app, path=path) == "path: too_large"


@pytest.mark.soak
def test_mirrors_of_hostile_size_stay_within_the_budget(
    api: Api, remote: GitRemote, shop: Shop, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a host without filters sends is all there, and what nobody has read for longest goes."""
    budget = 3 * MIB
    monkeypatch.setattr(mirrors, "ROOM", 0)
    settings.MIRRORS_GIB = budget / 2**30
    for number in range(6):
        origin = remote.origin(f"acme/large-{number}")
        origin.repository.config["uploadpack.allowFilter"] = False
        origin.commit({"f": os.urandom(MIB)})
        app = shop(f"{remote.url}/acme/large-{number}.git").id
        assert outcome(api, "get_file", applicationId=app, path="f") == "path: too_large"
        settle()
        assert bytes_in(settings.DATA_DIR) < budget + 1.3 * MIB


@pytest.mark.soak
def test_objects_that_are_no_commits_are_fetched_for_nobody_and_not_kept(
    api: Api, remote: GitRemote, shop: Shop, settings: Any
) -> None:
    """A listing tells ids of large files, and a host without filters sends what is asked for by its id."""
    origin = remote.origin("acme/shop")
    origin.repository.config["uploadpack.allowAnySHA1InWant"] = True
    origin.repository.config["uploadpack.allowFilter"] = False
    origin.commit({"f": "x"})
    blobs = [str(origin.repository.create_blob(os.urandom(MIB))) for _ in range(3)]
    for number, blob in enumerate(blobs):
        origin.tag(f"blob-{number}", blob)
    app = shop(f"{remote.url}/acme/shop.git").id
    assert outcome(api, "get_file", applicationId=app, path="f") == "x"
    settle()
    before = bytes_in(settings.DATA_DIR)
    for ref in (*blobs, "blob-0", "blob-1", "blob-2"):
        mirrors._missing_refs.forget()
        assert outcome(api, "get_file", applicationId=app, path="f", ref=ref) == NO_REF
        settle()
    assert bytes_in(settings.DATA_DIR) - before < MIB // 4
    origin.commit({"f": "y"}, "next")
    assert outcome(api, "get_file", applicationId=app, path="f", ref="next") == "y"


def test_only_networks_that_the_operator_opened_are_reached(
    api: Api, remote: GitRemote, shop: Shop, settings: Any
) -> None:
    settings.SOURCE_NETWORKS = [ip_network("10.0.0.0/8")]
    remote.origin("acme/shop").commit({"f": "x"})
    assert api.post("list_files", {"applicationId": shop(f"{remote.url}/acme/shop.git").id}).status_code == 503
    settle()
    assert remote.sent == []


def test_another_organization_reads_nothing_of_it(api: Api, rival: Fill, app: str) -> None:
    rival.app.source_type, rival.app.repository = "git", "https://localhost/acme/museum.git"
    rival.app.save()
    assert outcome(api, "list_files", applicationId=rival.app.id) == "applicationId: not_found"
