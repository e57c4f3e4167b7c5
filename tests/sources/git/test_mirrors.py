"""Mirrors: fetched once, answered at once, refreshed behind."""

import errno
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from ipaddress import ip_network
from itertools import islice

import pytest

from apps.net import outbound
from apps.sources import access
from apps.sources.git import fetch, generations, mirrors, remotes, stamps, upstream
from apps.sources.git import single_flight as turns
from apps.sources.git.fetch import FetchFailed, Silent
from apps.sources.git.mirrors import Mirror
from apps.sources.git.waiting import Places
from apps.web.exceptions import InvalidInput, Unavailable
from tests.patience import patience
from tests.sources.git.conftest import URL


def files_of(mirror):
    return {path.name for path in mirror.folder.iterdir()}


def refused(call, *arguments):
    with pytest.raises(InvalidInput) as refusal:
        call(*arguments)
    (problem,) = refusal.value.problems
    return problem.type


def test_the_first_call_fetches_and_the_next_ones_do_not(network, origin):
    sha = origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    for _ in range(3):
        latest = mirror.latest("main")
        assert (latest.commit, latest.is_stale) == (sha, False)
    assert len(network.runs) == 1


def held(monkeypatch):
    """Fetches wait until the event that is returned is set."""
    gate = threading.Event()
    real = upstream.run

    def slow(*arguments, **options):
        assert gate.wait(patience())
        real(*arguments, **options)

    monkeypatch.setattr(upstream, "run", slow)
    return gate


def test_one_caller_of_an_organization_waits_and_the_others_are_told_to_come_back(network, origin, monkeypatch):
    sha = origin.commit({"a": "1"})
    gate = held(monkeypatch)
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(Mirror(URL, "org_1:con_1").latest, "main") for _ in range(8)]
        refused = [call.exception() for call in islice(as_completed(calls, patience()), 7)]
        gate.set()
    assert [type(problem) for problem in refused] == [Unavailable] * 7
    assert {problem.retry_after for problem in refused} == {3}
    assert [call.result().commit for call in calls if call.exception() is None] == [sha]
    assert len(network.runs) == 1


def test_two_callers_of_the_process_wait_each_of_another_organization(network, origin, monkeypatch):
    origin.commit({"a": "1"})
    gate = held(monkeypatch)
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(Mirror(URL, f"org_{number}").latest, "main") for number in range(4)]
        refused = [call.exception() for call in islice(as_completed(calls, patience()), 2)]
        gate.set()
    assert [type(problem) for problem in refused] == [Unavailable] * 2
    assert len([call for call in calls if call.exception() is None]) == 2


@pytest.mark.process
def test_processes_share_one_fetch_too(network, origin, settings):
    sha = origin.commit({"a": "1"})
    script = f"""
import sys
from pathlib import Path
from django.conf import settings
settings.configure(DATA_DIR=Path({str(settings.DATA_DIR)!r}), MIRRORS_GIB=10)
from apps.sources.git import mirrors, upstream
from apps.sources.git.fetch import Remote
from apps.sources.git.remotes import Source
upstream.source_of = lambda url, *_: Source(Remote("file://{origin.folder}", None, "file"), None, url)
print(mirrors.Mirror({URL!r}, "org_1").latest("main").commit)
"""
    processes = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=os.getcwd(), text=True)
        for _ in range(4)
    ]
    assert [process.communicate(timeout=patience())[0].strip() for process in processes] == [sha] * 4
    generation = Mirror(URL, "org_1").generation()
    assert len(list(generation.glob("objects/pack/*.pack"))) == 1


def test_what_is_old_is_answered_at_once_and_refreshed_behind(network, origin):
    mirror = Mirror(URL, "org_1")
    old = origin.commit({"a": "1"})
    mirror.latest("main")
    new = origin.commit({"a": "2"})

    network.time += 59
    assert mirror.latest("main").commit == old
    network.settle()
    assert len(network.runs) == 1

    network.time += 2
    latest = mirror.latest("main")
    assert (latest.commit, latest.is_stale) == (old, False)
    network.settle()
    assert mirror.latest("main").commit == new
    assert len(network.runs) == 2


def test_what_nobody_asked_for_in_a_long_time_is_stale_until_it_is_refreshed(network, origin):
    mirror = Mirror(URL, "org_1")
    origin.commit({"a": "1"})
    mirror.latest("main")
    network.time += 181
    assert mirror.latest("main").is_stale
    network.settle()
    assert not mirror.latest("main").is_stale


def test_a_repository_that_cannot_be_refreshed_is_stale_and_tried_once_a_minute(network, origin):
    mirror = Mirror(URL, "org_1")
    sha = origin.commit({"a": "1"})
    mirror.latest("main")
    del network.origins[URL]
    network.time += 61
    mirror.latest("main")
    network.settle()
    latest = mirror.latest("main")
    assert (latest.commit, latest.is_stale) == (sha, True)
    network.settle()
    assert mirror.known("main")[1].tried_at == network.time

    network.origins[URL] = origin
    network.time += 61
    mirror.latest("main")
    network.settle()
    assert not mirror.latest("main").is_stale


def test_many_stale_answers_start_one_refresh(network, origin):
    mirror = Mirror(URL, "org_1")
    origin.commit({"a": "1"})
    mirror.latest("main")
    network.time += 61
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: mirror.latest("main"), range(40)))
    network.settle()
    assert len(network.runs) == 2


def test_a_clock_that_was_set_back_only_causes_a_refresh(network, origin):
    mirror = Mirror(URL, "org_1")
    origin.commit({"a": "1"})
    mirror.latest("main")
    network.time -= 100_000
    mirror.latest("main")
    network.settle()
    assert len(network.runs) == 2


def test_a_branch_that_is_gone_is_not_found_after_the_refresh_and_its_commit_stays(network, origin):
    mirror = Mirror(URL, "org_1")
    origin.commit({"a": "1"})
    sha = origin.commit({"a": "2"}, "feature")
    mirror.latest("feature")
    origin.delete("feature")
    network.time += 61
    assert mirror.latest("feature").commit == sha
    network.settle()
    assert refused(mirror.latest, "feature") == "ref_not_found"
    assert (mirror.generation() / "objects").exists()


def test_a_branch_comes_before_a_tag_and_tags_are_followed_to_their_commit(network, origin):
    mirror = Mirror(URL, "org_1")
    first = origin.commit({"a": "1"})
    second = origin.commit({"a": "2"}, "both")
    origin.tag("both", first)
    origin.tag("v1", first, annotated=True)
    assert mirror.latest("both").commit == second
    assert mirror.latest("refs/tags/both").commit == first
    assert mirror.latest("v1").commit == first
    assert mirror.latest("HEAD").commit == first


def test_a_tag_of_a_tree_is_not_a_commit(network, origin):
    sha = origin.commit({"a": "1"})
    origin.tag("tree", str(origin.repository[sha].tree_id))
    assert refused(Mirror(URL, "org_1").latest, "tree") == "ref_not_found"


def test_a_ref_that_the_repository_lacks_leaves_nothing_behind(network, origin):
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    assert refused(mirror.latest, "nope") == "ref_not_found"
    assert files_of(mirror) == {"lock"}


def test_a_failure_is_remembered_for_a_moment(network, origin, monkeypatch):
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    for _ in range(5):
        assert refused(mirror.latest, "nope") == "ref_not_found"
    assert len(network.runs) == 2  # as a branch, as a tag
    assert mirror.latest("main")

    later = turns.time.monotonic() + 1000
    monkeypatch.setattr(turns.time, "monotonic", lambda: later)
    assert refused(mirror.latest, "nope") == "ref_not_found"
    assert len(network.runs) == 5


def test_an_unreachable_repository_is_unavailable_in_our_words_and_not_hammered(network, monkeypatch):
    asked = []

    def refusing(url, *_):
        asked.append(url)
        raise FetchFailed("secret.internal.example said no")

    monkeypatch.setattr(upstream, "source_of", refusing)
    mirror = Mirror(URL, "org_1")
    for ref in ("main", "main", "other"):
        with pytest.raises(Unavailable) as failure:
            mirror.latest(ref)
        assert str(failure.value) == "The application's repository cannot be read at the moment."
        assert failure.value.retry_after == 10
    assert len(asked) == 1
    assert files_of(mirror) == {"lock"}


def test_a_caller_waits_only_so_long_and_the_fetch_goes_on(network, origin, monkeypatch):
    sha = origin.commit({"a": "1"})
    gate = held(monkeypatch)
    monkeypatch.setattr(mirrors, "FIRST_WAIT", 0.1)
    mirror = Mirror(URL, "org_1")
    with pytest.raises(Unavailable):
        mirror.latest("main")
    gate.set()
    network.settle()
    assert mirror.latest("main").commit == sha
    assert len(network.runs) == 1


def test_a_fetch_that_takes_too_long_leaves_nothing_behind(network, origin, monkeypatch, tmp_path):
    origin.commit({"a": "1"})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\ntouch objects/pack/tmp_pack_1; exec sleep 600\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(upstream, "FETCH_LIMIT", 0.2)
    mirror = Mirror(URL, "org_1")
    with pytest.raises(Unavailable):
        mirror.latest("main")
    assert files_of(mirror) == {"lock"}


def test_a_repository_over_the_size_cap_leaves_nothing_behind(network, origin, monkeypatch):
    monkeypatch.setattr(fetch, "MAX_PACK_BYTES", 64 * 1024)
    mirror = Mirror(URL, "org_1")
    small = origin.commit({"a": "1"})
    big = origin.commit({"big": os.urandom(500_000)}, "big")
    with pytest.raises(Unavailable):
        mirror.latest("big")
    assert files_of(mirror) == {"lock"}

    mirrors._failures.forget()
    assert mirror.latest("main").commit == small
    origin.repository.references.create("refs/heads/main", big, force=True)
    network.time += 61
    mirror.latest("main")
    network.settle()
    assert mirror.latest("main").is_stale
    assert not [path for path in mirror.generation().rglob("*") if "tmp" in path.name or path.name.endswith(".lock")]


def test_who_finds_no_slot_in_time_is_unavailable(network, origin, monkeypatch):
    origin.commit({"a": "1"})
    monkeypatch.setattr(mirrors, "_first_slots", Places(1, each=1))
    monkeypatch.setattr(mirrors, "FIRST_WAIT", 0.1)
    with mirrors._first_slots.take("org_2"), pytest.raises(Unavailable):
        Mirror(URL, "org_1").latest("main")
    network.settle()
    monkeypatch.setattr(mirrors, "FIRST_WAIT", 10)
    assert Mirror(URL, "org_1").latest("main")


def silent(monkeypatch):
    """No fetch ever ends, and the time that each may take is short. Counts them."""
    started = []

    def run(command, folder, *, seconds, lock):
        started.append(folder)
        raise Silent("It took longer than 15.0 s.")

    monkeypatch.setattr(upstream, "run", run)
    return started


def test_a_silent_host_is_left_alone_for_every_repository_and_twice_as_long_each_time(network, origin, monkeypatch):
    started = silent(monkeypatch)
    other = "https://git.example.com/rival/other.git"
    network.origin(other)
    for times, pause in enumerate((15, 30, 60), 1):
        for url, key in ((URL, "org_1"), (other, "org_2")):
            with pytest.raises(Unavailable) as failure:
                Mirror(url, key).latest("main")
        assert failure.value.retry_after == pause
        assert len(started) == times
        network.time += pause
        mirrors._failures.forget()


def test_a_host_that_was_heard_lately_is_not_silenced_by_one_repository(network, origin, monkeypatch):
    origin.commit({"a": "1"})
    Mirror(URL, "org_1").latest("main")
    started = silent(monkeypatch)
    other = "https://git.example.com/rival/other.git"
    network.origin(other)
    for url in (other, URL):
        with pytest.raises(Unavailable):
            Mirror(url, "org_2").latest("main")
    assert len(started) == 2


def test_what_is_remembered_of_a_host_may_be_damaged(network, origin):
    origin.commit({"a": "1"})
    hosts = Mirror(URL, "org_1").folder.parent / "hosts"
    hosts.mkdir(parents=True)
    for content in ("", "[", "{}", "[1]", '["a", 1, 1]', "[0, 1e999, 1]", "[0, NaN, -5000]"):
        (hosts / f"{stamps.digest('git.example.com')}.json").write_text(content)
        mirrors._failures.forget()
        assert Mirror(URL, "org_1").latest("main")


def test_refs_that_are_made_up_have_a_budget_for_each_mirror(network, origin):
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    mirror.latest("main")
    for number in range(6):
        assert refused(mirror.latest, f"nope-{number}") == "ref_not_found"
    runs = len(network.runs)
    with pytest.raises(Unavailable) as failure:
        mirror.latest("nope-6")
    assert 1 <= failure.value.retry_after <= 10
    assert len(network.runs) == runs
    assert mirror.latest("main")
    assert Mirror(URL, "org_2").latest("main")  # another mirror has a budget of its own


def test_refs_that_are_there_cost_nothing(network, origin):
    shas = {f"b{number}": origin.commit({"a": str(number)}, f"b{number}") for number in range(9)}
    assert {ref: Mirror(URL, "org_1").latest(ref).commit for ref in shas} == shas


def test_organizations_do_not_share_mirrors(network, origin):
    origin.commit({"a": "1"})
    acme, rival = Mirror(URL, "org_1"), Mirror(URL, "org_2")
    acme.latest("main")
    assert acme.folder != rival.folder
    assert rival.known("main") is None
    assert rival.generation() is None


def test_past_so_many_packs_everything_in_use_is_fetched_afresh(network, origin, monkeypatch):
    monkeypatch.setattr(mirrors, "MAX_PACKS", 3)
    mirror = Mirror(URL, "org_1")
    feature = origin.commit({"f": "1"}, "feature")
    origin.commit({"f": "2"}, "doomed")
    mirror.latest("feature")
    mirror.latest("doomed")
    origin.delete("doomed")
    before = mirror.generation()
    origin.commit({"a": "1"})
    mirror.latest("main")
    sha = origin.commit({"a": "2"})
    network.time += 61
    mirror.latest("main")
    network.settle()
    after = mirror.generation()
    assert after != before
    assert len(list(after.glob("objects/pack/*.pack"))) == 2
    assert mirror.known("main")[1].commit == sha
    assert mirror.known("feature")[1].commit == feature
    assert mirror.known("doomed") is None
    assert before.exists()  # for readers that are still in it
    assert not list(mirror.folder.glob("new-*"))


def test_what_a_dead_process_left_is_removed(network, origin):
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    (mirror.folder / "new-dead").mkdir(parents=True)
    mirror.latest("main")
    assert not (mirror.folder / "new-dead").exists()


def test_what_a_git_that_was_killed_left_does_not_fail_the_next_one(network, origin):
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    mirror.latest("main")
    generation = mirror.generation()
    (ref,) = generation.glob("refs/mirror/*")
    left = [generation / "shallow.lock", ref.with_suffix(".lock"), generation / "objects" / "pack" / "tmp_pack_dead"]
    for path in left:
        path.touch()
    sha = origin.commit({"a": "2"})
    network.time += 61
    mirror.refresh("main")
    assert mirror.latest("main").commit == sha
    assert [path for path in left if path.exists()] == []


@pytest.mark.process
def test_a_git_that_goes_on_without_its_process_keeps_others_away_until_it_ends(network, origin, tmp_path, monkeypatch):
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    mirror.latest("main")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    waiting = fetch.Command(("sh", "-c", f"read line <{gate}"), {"PATH": os.environ["PATH"]})
    # Who was killed: nobody lets the lock go.
    handle = turns._locked(mirror.folder / "lock", 0)
    thread = threading.Thread(target=fetch.run, args=(waiting, tmp_path), kwargs={"seconds": 60, "lock": handle})
    thread.start()
    writer = gate.open("w")  # which it is there for now
    os.close(handle)
    with pytest.raises(turns.LockTimeout), mirror._lock(0):
        pass
    with writer:
        writer.write("go on\n")
    thread.join(patience())
    with mirror._lock(patience()):
        pass


def test_a_damaged_stamp_is_as_good_as_none(network, origin):
    sha = origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    mirror.latest("main")
    for stamp in mirror.generation().glob("stamps/*"):
        stamp.write_text('{"ref": ')
    assert mirror.latest("main").commit == sha


def test_a_full_disk_is_unavailable_and_keeps_what_was_known(network, origin, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    sha = origin.commit({"a": "1"})
    with monkeypatch.context() as disk:
        disk.setattr(mirrors, "write_stamp", full)
        with pytest.raises(Unavailable):
            Mirror(URL, "org_1").latest("main")
        assert files_of(Mirror(URL, "org_1")) == {"lock"}
    assert Mirror(URL, "org_1").latest("main").commit == sha

    with monkeypatch.context() as disk:
        disk.setattr(mirrors, "write_stamp", full)
        disk.setattr(generations, "write_stamp", full)
        runs = len(network.runs)
        network.time += 61
        for _ in range(3):
            assert Mirror(URL, "org_1").latest("main").commit == sha
            network.settle()
        assert len(network.runs) == runs + 1  # it is not hammered


@pytest.mark.parametrize("url", ["http://a.example/b", "file:///etc", "git@a.example:b", "https://u:p@a.example/b", ""])
def test_a_url_that_is_not_https_is_no_repository(network, url):
    assert refused(Mirror, url, "org_1") == "no_repository"


def test_a_name_that_leads_inside_is_unavailable_and_git_never_runs(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    ran = []
    monkeypatch.setattr(upstream, "run", lambda *arguments, **options: ran.append(arguments))
    monkeypatch.setattr(access, "access_to", lambda *_: access.Access(None))
    mirrors._failures.forget()
    for url in ("https://localhost/a.git", "https://127.0.0.1/a.git", "https://169.254.169.254/a", "https://[::1]/a"):
        with pytest.raises(Unavailable):
            Mirror(url, "org_1").latest("main")
    assert ran == []


def test_git_is_told_the_addresses_that_were_checked(monkeypatch):
    def resolve(destination, **options):
        return outbound.ResolvedDestination(destination, ("140.82.121.4",))

    monkeypatch.setattr(remotes, "resolve_allowed", resolve)
    remote = remotes.remote_of("https://Git.Example.com/a.git")
    assert (remote.url, remote.resolve, remote.protocol) == (
        "https://git.example.com/a.git", "git.example.com:443:140.82.121.4", "https",
    )  # fmt: skip


def test_git_connects_to_the_pinned_address_and_nowhere_else(tmp_path):
    # A listener on loopback stands for the checked address; the name itself has no address at all.
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        destination = outbound.https_destination(f"https://pinned.invalid:{port}/a.git")
        pinned = outbound.ResolvedDestination(destination, ("127.0.0.1",))
        mirrors.pygit2.init_repository(tmp_path, bare=True)
        command = fetch.fetch_command(
            fetch.Remote(destination.url, pinned.curl_resolve), "HEAD", "refs/mirror/a", path=os.environ["PATH"]
        )
        with ThreadPoolExecutor(1) as pool:
            ended = pool.submit(fetch.run, command, tmp_path, seconds=patience())
            connection, _ = server.accept()
            hello = connection.recv(1024)
            connection.close()
            with pytest.raises(FetchFailed):
                ended.result(patience())
    assert b"pinned.invalid" in hello  # TLS names the host, not the address
    assert not outbound.is_reachable("127.0.0.1", [ip_network("10.0.0.0/8")])
