"""Workers keep fresh what is asked for, and nothing else."""

from apps.sources import tasks
from apps.sources.git import recency, stamps
from apps.sources.git.mirrors import Mirror
from apps.sources.git.refreshing import refresh_mirrors
from tests.sources.git.conftest import URL


def test_what_was_asked_for_lately_and_is_not_fresh_is_fetched(network, origin, settings):
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    mirror.latest("main")
    sha = origin.commit({"a": "2"})
    assert refresh_mirrors(settings.DATA_DIR) == 0
    network.time += stamps.FRESH_FOR
    tasks.refresh_mirrors.call()
    assert mirror.known("main")[1].commit == sha
    assert refresh_mirrors(settings.DATA_DIR) == 0


def test_what_nobody_asks_for_any_more_is_left_and_forgotten(network, origin, settings):
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    mirror.latest("main")
    network.time += recency.LATELY
    assert refresh_mirrors(settings.DATA_DIR) == 0
    assert not list(mirror.folder.glob("asked/*"))


def test_a_commit_that_is_named_by_its_sha_is_not_fetched_again(network, origin, settings):
    sha = origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    mirror.latest(sha)
    network.time += stamps.FRESH_FOR
    assert refresh_mirrors(settings.DATA_DIR) == 0


def test_a_repository_that_fails_or_a_damaged_note_keeps_no_other_from_being_fetched(network, origin, settings):
    other = network.origin("https://git.example.com/acme/other.git")
    for source in (origin, other):
        source.commit({"a": "1"})
    mirrors = [Mirror(URL, "org_1"), Mirror("https://git.example.com/acme/other.git", "org_1")]
    for mirror in mirrors:
        mirror.latest("main")
    network.time += stamps.FRESH_FOR
    origin.delete("main")
    sha = other.commit({"a": "2"})
    for path in mirrors[0].folder.glob("asked/*.json"):
        path.with_name("damaged.json").write_text('{"url": 1')
        path.with_name("wrong.json").write_text('{"url": "file:///etc", "key": "org_1", "ref": "main"}')
    refresh_mirrors(settings.DATA_DIR)
    assert mirrors[1].known("main")[1].commit == sha


def test_asking_again_and_again_writes_once_a_minute(network, origin):
    origin.commit({"a": "1"})
    mirror = Mirror(URL, "org_1")
    mirror.latest("main")
    (path,) = mirror.folder.glob("asked/*.json")
    before = path.stat().st_ino, path.stat().st_mtime_ns
    mirror.latest("main")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == before
    network.time += recency.PRECISION
    mirror.latest("main")
    assert path.stat().st_mtime == network.time
