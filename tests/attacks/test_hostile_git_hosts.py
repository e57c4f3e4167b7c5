"""Git hosts that answer what no git would send: nothing else is asked, nothing is left, nobody hears their words."""

import json
import os
import time
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest

from apps.sources import access
from apps.sources.access import Access
from apps.sources.git import fetch, mirrors, upstream
from apps.sources.git import repository as git
from apps.sources.hosts.types import host_of
from tests.api import Api
from tests.attacks.conftest import CANARY, Shop, bytes_in
from tests.attacks.hostile_repositories import (
    MIB,
    SERVICE,
    VERSION_2,
    answering,
    commit_pack,
    elsewhere,
    pack_of,
    saying,
    sending,
    tree_of,
)
from tests.fakes import certificates
from tests.fakes.git_remote import Behaviour, GitRemote, Handler, hang, redirect, stream
from tests.fakes.github import GitHubFake
from tests.faults.bombs import BLOB, COMMIT, EMPTY_TREE, TAG, TREE, Pack, commit_of, header, number, packet, sideband
from tests.patience import patience
from tests.sources.conftest import github_remote, opened, remote, settle

__all__ = ["github_remote", "opened", "remote"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nobody", "logged")]
MISSING = b"\x11" * 20


def listed(api: Api, app: str, **inputs: Any) -> Any:
    """The status, or type of a refusal; else names and sizes. Never a word of the other side."""
    response = api.post("get_file" if "path" in inputs else "list_files", {"applicationId": app} | inputs)
    told = json.loads(response.content)
    assert CANARY not in response.content.decode()
    if response.status_code == 422:
        return told["detail"][0]["type"]
    if response.status_code != 200:
        return response.status_code
    return told["content"] if "path" in inputs else [(item["name"], item["size"]) for item in told["items"]]


def left(data: Path) -> list[Path]:
    """What of a repository is on the disk."""
    settle()
    return list(data.glob("mirrors/*/*-*"))


# What goes wrong before there is a repository


def dumb(handler: Handler) -> None:
    """The old protocol, whose servers tell where else objects are."""
    bodies = {"info/refs": f"{'1' * 40}\trefs/heads/main\n", "HEAD": "ref: refs/heads/main\n"}
    alternates = f"https://localhost:1/{CANARY}\n"
    path = handler.path.partition(".git/")[2].partition("?")[0]
    body = bodies.get(path, alternates if "alternates" in path else "")
    handler.answer(200 if body else 404, {"Content-Type": "text/plain"}, body.encode())


def answer(status: int, **headers: str) -> Behaviour:
    return lambda handler: handler.answer(status, headers, f"\x1b[31m{CANARY}".encode())


WORDS = f"\x1b[31m{CANARY}\r\x07\nfatal: {CANARY}\nremote: x\n\x1b]0;{CANARY}\x07".encode()
FORGED = packet(b"1" * 40 + b" refs/heads/../../../" + CANARY.encode() + b"\n")
BAD_HOSTS: dict[str, tuple[Behaviour, Any]] = {
    "redirect inside": (redirect(f"http://169.254.169.254/{CANARY}"), 503),
    "redirect to a file": (redirect("file:///etc/passwd"), 503),
    "redirect to itself": (redirect("/acme/shop.git/info/refs?service=git-upload-pack"), 503),
    "wants a password": (answer(401, **{"WWW-Authenticate": f'Basic realm="{CANARY}"'}), "no_repository"),
    "wants Negotiate": (answer(401, **{"WWW-Authenticate": "Negotiate"}), "no_repository"),
    "forbids": (answer(403), "no_repository"),
    "has none": (answer(404), "no_repository"),
    "broken": (answer(500), 503),
    "a proxy's status": (answer(407), 503),
    "a teapot": (answer(418), 503),
    "nothing that git knows": (answer(200), "ref_not_found"),
    "a page": (lambda handler: handler.answer(200, {}, b"<html>\n<form>\n"), 503),
    "cookies": (answer(500, **{"Set-Cookie": f"a={CANARY}", "Alt-Svc": 'h2="localhost:1"'}), 503),
    "dumb": (dumb, 503),
    "says words": (saying(WORDS), 503),
    "says that the password is wrong": (saying(b"x\nfatal: Authentication failed for 'x'"), "no_repository"),
    "no packets": (answering(b"zzzz"), 503),
    "a packet without end": (answering(SERVICE + b"fff0" + b"x" * 100), 503),
    "nothing": (answering(b""), 503),
    "no refs": (answering(VERSION_2, refs=b"0000"), "ref_not_found"),
    "a version of the future": (answering(SERVICE + packet(b"version 9\n") + b"0000"), 503),
    "another hash": (answering(VERSION_2.replace(b"sha1", b"sha9")), 503),
    "odd refs": (answering(VERSION_2, refs=FORGED + b"0000"), "ref_not_found"),
    "a ref that is no id": (answering(VERSION_2, refs=packet(b"z" * 40 + b" refs/heads/main\n") + b"0000"), 503),
    "no pack": (answering(VERSION_2, refs=packet(b"1" * 40 + b" refs/heads/main\n") + b"0000"), 503),
    "garbage for a pack": (sending(MISSING, b"PACK" + WORDS * 100), 503),
    "a pack of nothing": (sending(MISSING, Pack().data()), 503),
    "a pack of something else": (sending(MISSING, pack_of(lambda pack: pack.add(TREE, b""))[1]), 503),
    "a pack cut short": (sending(MISSING, commit_pack(b"tree TREE\n")[1][:-30]), 503),
    "a head without a tree": (sending(*commit_pack(b"author WHO\ncommitter WHO\n\n")), 503),
    "a head of words": (sending(*commit_pack(WORDS)), 503),
}


@pytest.mark.parametrize("name", BAD_HOSTS)
def test_a_host_that_misbehaves_is_refused_and_leaves_nothing(
    api: Api, remote: GitRemote, shop: Shop, settings: Any, name: str
) -> None:
    remote.behaviour["acme/shop"], expected = BAD_HOSTS[name]
    assert listed(api, shop(f"{remote.url}/acme/shop.git").id) == expected
    assert left(settings.DATA_DIR) == []
    assert bytes_in(settings.DATA_DIR / "mirrors") < 64 * 1024
    assert {path.partition(".git")[0] for path, _ in remote.sent} == {"/acme/shop"}
    assert len(remote.sent) <= 6


@pytest.mark.soak
@pytest.mark.parametrize("behave", [hang, stream])
def test_a_host_that_never_ends_is_given_up(
    api: Api, remote: GitRemote, shop: Shop, settings: Any, monkeypatch: pytest.MonkeyPatch, behave: Behaviour
) -> None:
    monkeypatch.setattr(mirrors, "FIRST_WAIT", 0.5)
    monkeypatch.setattr(upstream, "FETCH_LIMIT", 1.0)
    remote.behaviour["acme/shop"] = behave
    assert listed(api, shop(f"{remote.url}/acme/shop.git").id) == 503
    assert left(settings.DATA_DIR) == []


def test_a_certificate_of_another_name_is_not_believed(api: Api, opened: None, shop: Shop, tmp_path: Path) -> None:
    with GitRemote(tmp_path / "host", certificates.context("other.example")) as other:
        other.origin("acme/shop").commit({"f": CANARY})
        assert listed(api, shop(f"{other.url}/acme/shop.git").id) == 503
        settle()
        assert other.sent == []


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::ffff:7f00:1]"])
def test_a_pack_is_fetched_from_no_other_address(
    api: Api, remote: GitRemote, shop: Shop, settings: Any, tmp_path: Path, name: str
) -> None:
    """ "packfile-uris": git fetches them also where it did not offer to."""
    with GitRemote(tmp_path / "inside", certificates.context("localhost")) as inside:
        address = f"https://{name}:{inside.url.rpartition(':')[2]}"
        pack = commit_pack(b"tree TREE\nauthor WHO\ncommitter WHO\n\n")
        connections: list[Any] = []
        inside._server.get_request = counted(inside._server.get_request, connections)  # type: ignore[method-assign]
        remote.behaviour["acme/shop"] = sending(*pack, before=elsewhere(f"{address}/x.pack"))
        assert listed(api, shop(f"{remote.url}/acme/shop.git").id) == 503
        assert left(settings.DATA_DIR) == []
        assert (connections, inside.sent) == ([], [])


def counted(get: Callable[[], Any], found: list[Any]) -> Callable[[], Any]:
    def get_request() -> Any:
        found.append(1)
        return get()

    return get_request


# Repositories that git takes, and that are none


def raw(*entries: tuple[bytes, bytes, bytes]) -> Behaviour:
    return sending(*pack_of(lambda pack: pack.add(TREE, tree_of(*entries))))


def of(kind: int, content: bytes, mode: bytes = b"100644") -> Behaviour:
    return sending(*pack_of(lambda pack: pack.add(TREE, tree_of((mode, b"f", pack.add(kind, content))))))


BLOB_AS_DIRECTORY = of(BLOB, b"x", b"40000")
TAGGED = b"object " + b"1" * 40 + b"\ntype commit\ntag x\ntagger nobody\n\n"
BAD_TREES: dict[str, tuple[Behaviour, Any, Any]] = {
    "a missing file": (raw((b"100644", b"f", MISSING)), [("f", None)], "too_large"),
    "the null id": (raw((b"100644", b"f", bytes(20))), [("f", None)], "too_large"),
    "a missing folder": (raw((b"40000", b"f", MISSING)), [("f", None)], "is_directory"),
    "a file as a folder": (BLOB_AS_DIRECTORY, [("f", None)], "is_directory"),
    "a folder as a file": (of(TREE, b""), [("f", 0)], 503),
    "a commit as a file": (of(COMMIT, commit_of(EMPTY_TREE)), [("f", len(commit_of(EMPTY_TREE)))], 503),
    "a commit as a folder": (of(COMMIT, commit_of(EMPTY_TREE), b"40000"), [("f", None)], "is_directory"),
    "a tag as a file": (of(TAG, TAGGED), [("f", len(TAGGED))], 503),
    "no name": (raw((b"100644", b"", MISSING)), 503, 503),
    "a path for a name": (raw((b"100644", b"f/f", MISSING)), [("f/f", None)], "path_not_found"),
    "no mode": (raw((b"", b"f", MISSING)), 503, 503),
    "words for a mode": (raw((b"hello", b"f", MISSING)), 503, 503),
    "a mode too large": (raw((b"7777777", b"f", MISSING)), 503, 503),
    "the same name twice": (raw((b"40000", b"f", MISSING), (b"100644", b"f", MISSING)), [("f", None)] * 2, None),
    "a commit without an author": (sending(*commit_pack(b"tree TREE\ncommitter WHO\n\n")), 503, 503),
    "a commit of nobody": (sending(*commit_pack(b"tree TREE\nauthor WHO\ncommitter nobody\n\n")), 503, 503),
    "a commit of no time": (sending(*commit_pack(b"tree TREE\nauthor WHO\ncommitter A <b>\n\n")), [], "path_not_found"),
    "a commit that is its own parent's": (
        sending(*commit_pack(b"tree TREE\nparent " + b"1" * 40 + b"\nauthor WHO\ncommitter WHO\n\n")), [],
        "path_not_found",
    ),
}  # fmt: skip


@pytest.mark.soak
@pytest.mark.parametrize("name", BAD_TREES)
def test_a_tree_that_is_none_is_told_as_far_as_it_goes(api: Api, remote: GitRemote, shop: Shop, name: str) -> None:
    remote.behaviour["acme/shop"], expected, content = BAD_TREES[name]
    app = shop(f"{remote.url}/acme/shop.git").id
    for _ in range(2):  # the second is read from what the first has fetched
        assert listed(api, app) == expected
        mirrors._failures.forget()
        settle()
    read = listed(api, app, path="f")
    assert content is None or read == content
    assert listed(api, app, path="f/f") in ("path_not_found", 503)


def test_thousands_of_missing_files_are_told_at_once(api: Api, remote: GitRemote, shop: Shop) -> None:
    entries = [(b"100644", b"f%05d" % at, sha1(b"%d" % at).digest()) for at in range(50_000)]
    remote.behaviour["acme/shop"] = raw(*entries)
    app = shop(f"{remote.url}/acme/shop.git").id
    listed(api, app, path="x")
    began = time.monotonic()
    page = api("list_files", applicationId=app, limit=1000)
    assert time.monotonic() - began < patience(1)
    assert {item["size"] for item in page["items"]} == {None}


def chained(length: int) -> Behaviour:
    """Files of which each is a delta against the one before: its type is that of the first."""

    def make(pack: Pack) -> bytes:
        content = b"x" * 20
        shas = [pack.add(BLOB, content)]
        for at in range(length):
            delta = number(len(content)) + number(24) + b"\x90\x10\x08" + b"%08d" % at
            pack.objects.append(header(7, len(delta)) + shas[-1] + zlib.compress(delta))
            content = content[:16] + b"%08d" % at
            shas.append(sha1(b"blob 24\0" + content).digest())
        return pack.add(TREE, tree_of(*((b"100644", b"f%05d" % at, sha) for at, sha in enumerate(shas))))

    return sending(*pack_of(make))


def test_a_long_chain_of_deltas_holds_up_nobody(
    api: Api, remote: GitRemote, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote.behaviour["acme/shop"] = chained(10_000)
    app = shop(f"{remote.url}/acme/shop.git").id
    assert listed(api, app, path="f10000") == "x" * 16 + "00009999"
    began = time.monotonic()
    assert len(listed(api, app, limit=20)) == 20
    assert time.monotonic() - began < patience(1)
    monkeypatch.setattr(git, "SIZES_SECONDS", 0.0)
    assert listed(api, app, limit=1000) == "too_large"


# Size


def test_a_pack_over_the_cap_is_given_up_and_leaves_nothing(
    api: Api, remote: GitRemote, shop: Shop, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "MAX_PACK_BYTES", 64 * 512)
    origin = remote.origin("acme/shop")
    origin.commit({f"f{at}": sha1(b"%d" % at).digest() * 100 + bytes(range(256)) for at in range(3)})
    assert listed(api, shop(f"{remote.url}/acme/shop.git").id) != 503
    origin.commit({f"f{at}": os.urandom(500) for at in range(200)}, "big")
    assert listed(api, shop(f"{remote.url}/acme/shop.git").id, ref="big") == 503
    before = bytes_in(settings.DATA_DIR)
    for _ in range(3):
        mirrors._failures.forget()
        assert listed(api, shop(f"{remote.url}/acme/shop.git").id, ref="big") == 503
        settle()
    assert bytes_in(settings.DATA_DIR) <= before


def test_what_comes_without_what_was_asked_for_is_not_kept(
    api: Api, remote: GitRemote, shop: Shop, settings: Any
) -> None:
    remote.origin("acme/shop").commit({"f": "x"})
    app = shop(f"{remote.url}/acme/shop.git").id
    assert listed(api, app, path="f") == "x"
    settle()
    before = bytes_in(settings.DATA_DIR)
    for at in range(3):
        large = pack_of(lambda pack, at=at: pack.add(TREE, tree_of((b"100644", b"f", pack.add(BLOB, noise(at))))))[1]
        refs = packet(sha1(b"%d" % at).hexdigest().encode() + b" refs/heads/n%d\n" % at) + b"0000"
        begin = packet(b"acknowledgments\n") + packet(b"ready\n") + b"0001" + packet(b"packfile\n")
        remote.behaviour["acme/shop"] = answering(VERSION_2, refs=refs, fetched=begin + sideband(large))
        assert listed(api, app, ref=f"n{at}") in (503, "ref_not_found")
        mirrors._failures.forget()
        settle()
    assert bytes_in(settings.DATA_DIR) - before < MIB // 4
    assert listed(api, app, path="f") == "x"


def noise(seed: int) -> bytes:
    return b"".join(sha1(b"%d %d" % (seed, at)).digest() for at in range(40_000))


def test_fifty_thousand_refs_cost_nothing(api: Api, remote: GitRemote, shop: Shop, settings: Any) -> None:
    origin = remote.origin("acme/shop")
    head = origin.commit({"f": "x"})
    lines = "".join(f"{head} refs/heads/b{at:05}\n" for at in range(50_000))
    (origin.folder / "packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted \n{lines}")
    app = shop(f"{remote.url}/acme/shop.git").id
    assert listed(api, app, path="f") == "x"
    assert listed(api, app, path="f", ref="b49999") == "x"
    settle()
    assert bytes_in(settings.DATA_DIR) < MIB


def test_a_repository_without_commits_and_heads_that_lead_nowhere(api: Api, remote: GitRemote, shop: Shop) -> None:
    _, lost, detached = (remote.origin(f"acme/{name}") for name in ("empty", "lost", "detached"))
    lost.commit({"f": "x"}, "other")
    sha = detached.commit({"f": "detached"})
    detached.repository.set_head(detached.repository[sha].id)
    detached.delete("main")
    for name, branch, expected in (
        ("empty", None, "ref_not_found"), ("empty", "main", "ref_not_found"), ("lost", None, "ref_not_found"),
        ("lost", "other", "x"), ("detached", None, "detached"), ("detached", "main", "ref_not_found"),
    ):  # fmt: skip
        app = shop(f"{remote.url}/acme/{name}.git", branch=branch)
        assert listed(api, app.id, path="f") == expected


# What a host's API tells


@pytest.fixture
def renaming(
    github_remote: tuple[GitRemote, GitHubFake], monkeypatch: pytest.MonkeyPatch
) -> tuple[GitRemote, GitHubFake]:
    """A host whose API is asked where acme/old is now."""
    host, _ = github_remote
    monkeypatch.setattr(access, "access_to", lambda *_: Access(host_of("github", host.url, None)))
    host.behaviour["acme/old"] = redirect(f"{host.url}/acme/new.git/info/refs?service=git-upload-pack")
    return github_remote


NEW_NAMES = [
    "../..", "acme/..", "acme/../../etc", "./x", "https://evil.example/x", "//evil.example/x", "acme/b?x=1", "acme/b#x",
    "acme/b c", "acme/b\r\nX: y", "acme/\x1b[31m", "acme/%2e%2e", "a", "", "/acme/b", "acme/b/", "acme\\b", "@evil/x:y",
    f"acme/{'b' * 600}", "acme/old", "ACME/OLD", "acme/\u202ewen",
]  # fmt: skip


# The others say the same in more words.
SOME = [name if at < 6 else pytest.param(name, marks=pytest.mark.soak) for at, name in enumerate(NEW_NAMES)]


@pytest.mark.parametrize("name", SOME, ids=lambda name: ascii(name)[:30])
def test_a_new_name_that_is_none_is_not_followed(
    api: Api, renaming: tuple[GitRemote, GitHubFake], shop: Shop, name: str
) -> None:
    host, github = renaming
    github.repositories, github.renamed["acme/old"] = [name], name
    assert listed(api, shop(f"{host.url}/acme/old.git").id) == 503
    settle()
    asked = {path.partition(".git")[0] for path, _ in host.sent if not path.startswith("/api/")}
    assert asked == {"/acme/old"}


@pytest.mark.parametrize("kind", ["elsewhere", "other_port", "outside", "climbing", "nowhere", "html", "large", "text"])
def test_an_api_that_leads_elsewhere_is_not_followed(
    api: Api, renaming: tuple[GitRemote, GitHubFake], shop: Shop, kind: str
) -> None:
    host, github = renaming
    github.fail("/repos/acme/old", kind)
    assert listed(api, shop(f"{host.url}/acme/old.git").id) == 503
    settle()
    assert {path for path, _ in host.sent if not path.startswith("/acme/old.git/")} == {"/api/v3/repos/acme/old"}
