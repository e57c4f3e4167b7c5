"""One run of `git fetch`: the command, what it may touch, and how it ends."""

import os
import select
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from apps.sources.git import fetch
from apps.sources.git.fetch import (
    AccessDenied,
    FetchFailed,
    Moved,
    RefMissing,
    Remote,
    fetch_command,
    remove_leftovers,
    run,
)
from tests.patience import patience

REMOTE = Remote("https://git.example.com/a.git", "git.example.com:443:140.82.121.4")


def configured(command):
    env = command.env
    return {
        env[f"GIT_CONFIG_KEY_{index}"]: env[f"GIT_CONFIG_VALUE_{index}"]
        for index in range(int(env["GIT_CONFIG_COUNT"]))
    }


@pytest.fixture
def fake_git(tmp_path):
    """A `git` of our own, first on PATH."""

    def make(script):
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "git").chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    return make


def test_the_command_is_exactly_this():
    command = fetch_command(REMOTE, "refs/heads/main", "refs/mirror/abc", path="/usr/bin")
    assert command.argv == (
        "sh", "-c", 'ulimit -f 524288 && ulimit -v 393216 && ulimit -t 60 && exec "$@"', "sh",
        "git", "fetch", "--quiet", "--depth=1", "--filter=blob:limit=1048576", "--no-tags", "--no-write-fetch-head",
        "--no-recurse-submodules", "--no-auto-maintenance", "--end-of-options",
        "https://git.example.com/a.git", "+refs/heads/main:refs/mirror/abc",
    )  # fmt: skip


def test_only_https_to_the_checked_address_without_redirects_credentials_or_hooks():
    configuration = configured(fetch_command(REMOTE, "HEAD", "refs/mirror/abc", path="/usr/bin"))
    assert {key: value for key, value in configuration.items() if key.startswith("protocol")} == {
        "protocol.allow": "never",
        "protocol.https.allow": "always",
    }
    assert configuration["http.followRedirects"] == "false"
    assert configuration["http.curloptResolve"] == "git.example.com:443:140.82.121.4"
    # Whatever a server names besides itself: nothing connects to that proxy.
    assert configuration["http.proxy"] == fetch.NOWHERE
    assert configuration["http.https://git.example.com/.proxy"] == ""
    assert configuration["credential.helper"] == ""
    assert configuration["core.hooksPath"] == os.devnull
    assert configuration["gc.auto"] == "0"


def test_an_operators_proxy_is_for_the_remote_alone():
    remote = Remote("https://git.example.com:8443/a.git", None, proxy="http://proxy.example:3128")
    configuration = configured(fetch_command(remote, "HEAD", "refs/mirror/abc", path="/usr/bin"))
    assert configuration["http.proxy"] == fetch.NOWHERE
    assert configuration["http.https://git.example.com:8443/.proxy"] == "http://proxy.example:3128"


def test_git_inherits_nothing_from_the_server(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example")
    monkeypatch.setenv("GIT_SSL_NO_VERIFY", "1")
    monkeypatch.setenv("SECRET_KEY", "x")
    env = fetch_command(REMOTE, "HEAD", "refs/mirror/abc", path="/usr/bin").env
    assert {key: value for key, value in env.items() if not key.startswith("GIT_CONFIG_")} == {
        "PATH": "/usr/bin", "HOME": os.devnull, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0",
        "MALLOC_ARENA_MAX": "1", "GIT_DIR": ".",
    }  # fmt: skip
    assert env["GIT_CONFIG_NOSYSTEM"] == "1"
    assert env["GIT_CONFIG_GLOBAL"] == os.devnull


def test_a_real_git_refuses_every_other_protocol(tmp_path):
    fetch.run(fetch.Command(("git", "init", "--quiet", "--bare", "."), os.environ), tmp_path, seconds=patience())
    for url in (f"file://{tmp_path}", f"{tmp_path}", "ext::sh -c true", "ssh://127.0.0.1:1/a", "http://127.0.0.1:1/a"):
        with pytest.raises(FetchFailed, match="not allowed"):
            run(
                fetch_command(Remote(url, None), "HEAD", "refs/mirror/a", path=os.environ["PATH"]), tmp_path, seconds=10
            )


def test_a_redirect_is_not_followed(tmp_path):
    fetch.run(fetch.Command(("git", "init", "--quiet", "--bare", "."), os.environ), tmp_path, seconds=patience())
    asked = []

    class Redirecting(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", "/elsewhere/info/refs?service=git-upload-pack")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with HTTPServer(("127.0.0.1", 0), Redirecting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        remote = Remote(f"http://127.0.0.1:{server.server_port}/a.git", None, "http")
        with pytest.raises(FetchFailed, match="302"):
            run(fetch_command(remote, "HEAD", "refs/mirror/a", path=os.environ["PATH"]), tmp_path, seconds=patience())
        server.shutdown()
    assert asked == ["/a.git/info/refs?service=git-upload-pack"]


@pytest.mark.parametrize("name", ["--upload-pack=touch pwned", "-u", "--output=x"])
def test_what_looks_like_an_option_is_only_a_name_to_git(tmp_path, name):
    fetch.run(fetch.Command(("git", "init", "--quiet", "--bare", "."), os.environ), tmp_path, seconds=patience())
    command = fetch_command(Remote(name, None, "file"), "refs/heads/main", "refs/mirror/a", path=os.environ["PATH"])
    with pytest.raises(FetchFailed, match="strange pathname"):
        run(command, tmp_path, seconds=patience())
    assert not (tmp_path / "pwned").exists()


def test_a_fetch_that_takes_too_long_is_killed_with_everything_it_started(tmp_path, fake_git):
    os.mkfifo(tmp_path / "alive")
    reader = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    path = fake_git(f"exec 9>{tmp_path}/alive; sleep 600 & echo started >&9; wait")
    with pytest.raises(FetchFailed, match="took longer"):
        run(fetch_command(REMOTE, "HEAD", "refs/mirror/a", path=path), tmp_path, seconds=patience(0.2))
    assert os.read(reader, 100) == b"started\n"
    # The pipe ends when the last process that holds it has ended.
    poll = select.poll()
    poll.register(reader, 0)
    assert poll.poll(1000 * patience())
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_a_git_that_talks_without_end_is_stopped_and_not_remembered_whole(tmp_path, fake_git):
    path = fake_git("exec yes remote: hello >&2")
    with pytest.raises(FetchFailed) as failure:
        run(fetch_command(REMOTE, "HEAD", "refs/mirror/a", path=path), tmp_path, seconds=0.3)
    assert len(str(failure.value)) < 1000


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("fatal: couldn't find remote ref refs/heads/x", RefMissing),
        ("fatal: remote error: upload-pack: not our ref 0123", RefMissing),
        ("error: Server does not allow request for unadvertised object 0123", RefMissing),
        ("remote: fatal: couldn't find remote ref refs/heads/x", FetchFailed),
        ("fatal: unable to access 'https://a/': The requested URL returned error: 500", FetchFailed),
        ("fatal: could not read Username for 'https://a': terminal prompts disabled", AccessDenied),
        ("fatal: Authentication failed for 'https://a/'", AccessDenied),
        ("fatal: repository 'https://a/' not found", AccessDenied),
        ("fatal: unable to access 'https://a/': The requested URL returned error: 403", AccessDenied),
        ("fatal: unable to access 'https://a/': The requested URL returned error: 301", Moved),
        ("remote: fatal: repository 'https://a/' not found", FetchFailed),
    ],
)
def test_failures_are_told_apart_by_what_git_itself_says(tmp_path, fake_git, said, expected):
    path = fake_git(f'echo "{said}" >&2; exit 128')
    with pytest.raises(FetchFailed) as failure:
        run(fetch_command(REMOTE, "HEAD", "refs/mirror/a", path=path), tmp_path, seconds=patience())
    assert type(failure.value) is expected


def test_every_file_that_git_writes_is_capped(tmp_path, fake_git, monkeypatch):
    monkeypatch.setattr(fetch, "MAX_PACK_BYTES", 10 * 512)
    path = fake_git("exec head -c 100000 /dev/zero > big")
    with pytest.raises(FetchFailed):
        run(fetch_command(REMOTE, "HEAD", "refs/mirror/a", path=path), tmp_path, seconds=patience())
    assert (tmp_path / "big").stat().st_size == 10 * 512


def test_leftovers_are_removed_and_nothing_else(tmp_path):
    leftovers = ["objects/pack/tmp_pack_Ab", "objects/ab/tmp_obj_x", "shallow.lock", "refs/mirror/x.lock", "shallow_ab"]
    kept = ["objects/pack/pack-1.pack", "objects/pack/pack-1.idx", "refs/mirror/x", "shallow", "config"]
    for name in leftovers + kept:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    remove_leftovers(tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == set(kept)
