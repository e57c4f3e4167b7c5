"""Repositories as they are at one commit."""

import subprocess
import time
from base64 import b64decode

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygit2.enums import ObjectType

from apps.orgs.repositories import LOCAL_CHECKOUT
from apps.sources.git import objects, scans
from apps.sources.git import repository as git
from apps.sources.git.mirrors import Mirror
from apps.sources.git.repository import open_repository
from apps.sources.git.values import Entry, Location
from apps.web.exceptions import InvalidInput, Unavailable
from tests.examples import examples
from tests.sources.git.conftest import URL
from tests.sources.git.origins import SIGNATURE, Link, Origin, Submodule
from tests.sources.git.planted import planted_of

SHOP = Location(URL, "main", "org_1")
HERE = Location(LOCAL_CHECKOUT, "main", "org_1")
NOWHERE = "1" * 40


@pytest.fixture
def checkout(settings, tmp_path):
    """A checkout of this server's own code, as it would be with `git clone`."""
    settings.PORTHOLE_ENV = "local"
    settings.BASE_DIR = tmp_path / "checkout"
    return Checkout(settings.BASE_DIR)


class Checkout(Origin):
    def __init__(self, folder):
        self.folder = folder
        self.repository = pygit2.init_repository(folder, initial_head="main")


def refused(call, *arguments, **options):
    """The type of the refusal, after a look at the rest of it."""
    with pytest.raises(InvalidInput) as refusal:
        call(*arguments, **options)
    (problem,) = refusal.value.problems
    assert problem.msg.endswith(".")
    return f"{problem.field}: {problem.type}"


def names(repository, path=""):
    return [entry.name for entry in repository.list(path)]


# Which commit


def test_the_default_is_the_applications_branch(origin):
    origin.commit({"a": "main"})
    live = origin.commit({"a": "live"}, "live")
    repository = open_repository(Location(URL, "live", "org_1"), None)
    assert (repository.ref, repository.commit_sha, repository.is_stale) == ("live", live, False)


def test_without_a_branch_the_default_is_the_remotes_head(origin):
    sha = origin.commit({"a": "1"})
    origin.commit({"a": "2"}, "other")
    repository = open_repository(Location(URL, None, "org_1"), None)
    assert (repository.ref, repository.commit_sha) == ("HEAD", sha)
    assert open_repository(SHOP, "HEAD").commit_sha == sha


def test_the_ref_that_was_asked_for_is_the_ref_that_is_answered(origin):
    sha = origin.commit({"a": "1"})
    origin.tag("v1", sha, annotated=True)
    open_repository(SHOP, None)
    for ref in ("main", "v1", "refs/heads/main", sha, sha[:7], sha.upper()):
        repository = open_repository(SHOP, ref)
        assert (repository.ref, repository.commit_sha) == (ref, sha)


def test_an_earlier_answers_commit_is_a_ref_after_the_branch_moved(network, origin):
    old = origin.commit({"a": "1"})
    open_repository(SHOP, None)
    new = origin.commit({"a": "2"})
    network.time += 61
    open_repository(SHOP, None)
    network.settle()
    assert open_repository(SHOP, None).commit_sha == new
    runs = len(network.runs)
    for ref in (old, old[:7]):
        assert open_repository(SHOP, ref).read("a", 0, 1024).content == "1"
    assert len(network.runs) == runs


def test_the_dates_are_those_of_the_commit_and_of_the_last_fetch(network, origin):
    sha = origin.commit({"a": "1"})
    first = network.time
    for ref in (None, sha, sha[:7]):
        repository = open_repository(SHOP, ref)
        assert (repository.committed_at.timestamp(), repository.fetched_at.timestamp()) == (1_700_000_000, first)
    network.time += 61
    assert open_repository(SHOP, None).fetched_at.timestamp() == first
    network.settle()
    for ref in (None, sha):
        assert open_repository(SHOP, ref).fetched_at.timestamp() == network.time


@pytest.mark.parametrize(("seconds", "told"), [(-5, "1970-01-01T00:00:00"), (10**15, "9999-12-31T23:59:59")])
def test_a_commit_of_no_year_that_there_is_has_a_date_all_the_same(origin, seconds, told):
    tree = origin.tree({"a": "1"})
    who = f"Ada <ada@example.com> {seconds} +0000".encode()
    commit = b"tree " + str(tree).encode() + b"\nauthor " + who + b"\ncommitter " + who + b"\n\nOdd\n"
    sha = origin.repository.odb.write(pygit2.enums.ObjectType.COMMIT, commit)
    origin.repository.references.create("refs/heads/main", sha)
    assert open_repository(SHOP, None).committed_at.isoformat().startswith(told)


def test_a_commit_that_was_named_is_never_stale(network, origin):
    sha = origin.commit({"a": "1"})
    open_repository(SHOP, sha)
    network.time += 1000
    assert not open_repository(SHOP, sha).is_stale
    assert open_repository(SHOP, None).commit_sha == sha
    network.time += 1000
    assert open_repository(SHOP, None).is_stale
    network.settle()


def test_a_commit_that_the_mirror_lacks_is_fetched_by_its_sha(network, origin):
    old = origin.commit({"a": "1"})
    origin.commit({"a": "2"})
    open_repository(SHOP, None)
    assert open_repository(SHOP, old).read("a", 0, 1024).content == "1"
    assert open_repository(SHOP, old).commit_sha == old
    assert len(network.runs) == 2


def test_a_ref_that_is_not_there_is_not_found(network, origin):
    sha = origin.commit({"a": "1"})
    blob = str(origin.repository[sha].tree["a"].id)
    open_repository(SHOP, None)
    for ref in ("nope", NOWHERE, NOWHERE[:8], blob, blob[:10], "--upload-pack=x", "a..b", ""):
        assert refused(open_repository, SHOP, ref) == "ref: ref_not_found"


def test_a_ref_that_is_no_ref_never_reaches_git(network, origin):
    origin.commit({"a": "1"})
    for ref in ("--upload-pack=x", "main^{tree}", "main:a", "../main", "x" * 256, "a\nb"):
        assert refused(open_repository, SHOP, ref) == "ref: ref_not_found"
    assert network.runs == []


def test_a_branch_whose_name_looks_like_a_short_sha_is_a_branch(origin):
    sha = origin.commit({"a": "1"}, "deadbeef")
    assert open_repository(SHOP, "deadbeef").commit_sha == sha


def test_a_default_branch_that_is_not_there_is_said(origin):
    origin.commit({"a": "1"})
    with pytest.raises(InvalidInput) as refusal:
        open_repository(Location(URL, "gone", "org_1"), None)
    assert refusal.value.problems[0].msg == (
        'The application\'s branch "gone" is not in the repository: pass another as ref, or HEAD.'
    )


def test_an_empty_repository_has_no_ref(origin):
    with pytest.raises(InvalidInput) as refusal:
        open_repository(Location(URL, None, "org_1"), None)
    assert refusal.value.problems[0].msg == "The repository has no commits yet: ask again when it has some."


def test_a_cursor_reads_its_own_commit(network, origin):
    old = origin.commit({"a": "1"})
    open_repository(SHOP, None)
    origin.commit({"a": "2"})
    network.time += 61
    open_repository(SHOP, None)
    network.settle()
    repository = open_repository(SHOP, None, pinned_commit=old)
    assert (repository.ref, repository.commit_sha) == ("main", old)


def test_a_cursors_commit_is_fetched_again_if_it_must_be_and_else_the_cursor_is_bad(origin):
    old = origin.commit({"a": "1"})
    origin.commit({"a": "2"})
    open_repository(SHOP, None)
    assert open_repository(SHOP, None, pinned_commit=old).commit_sha == old
    assert refused(open_repository, SHOP, None, pinned_commit=NOWHERE) == "cursor: bad_cursor"


def test_commits_and_tags_that_are_too_large_are_never_read(origin):
    sha = origin.commit({"a": "1"})
    origin.tag("v1", sha, annotated=True)
    large = "x" * objects.MAX_COMMIT_BYTES
    tree = origin.repository[sha].tree_id
    commit = origin.repository.create_commit("refs/heads/large", SIGNATURE, SIGNATURE, large, tree, [])
    origin.repository.create_tag("large-tag", pygit2.Oid(hex=sha), ObjectType.COMMIT, SIGNATURE, large)
    for ref in ("large", "large-tag", str(commit)):
        assert refused(open_repository, SHOP, ref) == "ref: ref_not_found"
    assert open_repository(SHOP, "v1").commit_sha == sha


def test_a_chain_of_tags_is_followed_only_so_far(origin):
    sha = target = origin.commit({"a": "1"})
    for number in range(objects.MAX_TAG_CHAIN):
        kind = origin.repository[target].type
        target = str(origin.repository.create_tag(f"t{number}", pygit2.Oid(hex=target), kind, SIGNATURE, "again"))
    assert open_repository(SHOP, "t2").commit_sha == sha
    assert refused(open_repository, SHOP, f"t{objects.MAX_TAG_CHAIN - 1}") == "ref: ref_not_found"


# The checkout


def test_the_checkout_answers_what_is_committed_and_no_uncommitted_work(checkout, tmp_path):
    sha = checkout.commit({"a": "committed"})
    (checkout.folder / "a").write_text("changed")
    (checkout.folder / "b").write_text("new")
    checkout.repository.index.add("b")
    checkout.repository.index.write()
    repository = open_repository(HERE, None)
    assert (repository.ref, repository.commit_sha, repository.is_stale) == ("main", sha, False)
    assert names(repository) == ["a"]
    assert repository.read("a", 0, 1024).content == "committed"
    assert not (tmp_path / "data").exists()


def test_a_detached_checkout_answers_the_applications_branch_if_it_has_it_and_else_head(checkout):
    first = checkout.commit({"a": "1"})
    second = checkout.commit({"a": "2"})
    checkout.repository.set_head(pygit2.Oid(hex=first))
    repository = open_repository(HERE, None)
    assert (repository.ref, repository.commit_sha) == ("main", second)
    checkout.delete("main")
    repository = open_repository(HERE, None)
    assert (repository.ref, repository.commit_sha) == ("HEAD", first)


def test_a_checkout_without_the_applications_branch_answers_the_branch_it_is_on(checkout):
    sha = checkout.commit({"a": "1"}, "feature/x")
    checkout.repository.set_head("refs/heads/feature/x")
    repository = open_repository(HERE, None)
    assert (repository.ref, repository.commit_sha) == ("feature/x", sha)
    assert refused(open_repository, HERE, "main") == "ref: ref_not_found"


def test_a_worktree_is_a_checkout_too(checkout, settings, tmp_path):
    sha = checkout.commit({"a": "1"})
    checkout.repository.add_worktree("other", tmp_path / "other")
    settings.BASE_DIR = tmp_path / "other"
    assert (settings.BASE_DIR / ".git").is_file()
    assert open_repository(Location(LOCAL_CHECKOUT, "gone", "org_1"), None).commit_sha == sha
    assert open_repository(HERE, "main").read("a", 0, 1024).content == "1"


def test_a_packed_checkout_and_its_short_shas_and_tags_are_read(checkout):
    old = checkout.commit({"a": "1"})
    checkout.tag("v1", old, annotated=True)
    checkout.commit({"a": "2"})
    subprocess.run(["git", "-C", checkout.folder, "gc", "--quiet"], check=True)
    for ref in (old, old[:7], "v1", "refs/tags/v1"):
        assert open_repository(HERE, ref).commit_sha == old
    assert open_repository(HERE, "main", pinned_commit=old).commit_sha == old
    assert refused(open_repository, HERE, None, pinned_commit=NOWHERE) == "cursor: bad_cursor"
    assert refused(open_repository, HERE, NOWHERE) == "ref: ref_not_found"


def test_a_checkout_without_a_commit_says_so(checkout):
    with pytest.raises(InvalidInput) as refusal:
        open_repository(HERE, None)
    assert refusal.value.problems[0].msg == "The repository has no commits yet: ask again when it has some."
    assert refusal.value.problems[0].type == "ref_not_found"


def test_source_code_without_git_has_no_repository(settings, tmp_path):
    settings.PORTHOLE_ENV = "local"
    # A repository further up is somebody else's.
    pygit2.init_repository(tmp_path)
    settings.BASE_DIR = tmp_path / "unpacked"
    settings.BASE_DIR.mkdir()
    assert refused(open_repository, HERE, None) == "applicationId: no_repository"


def test_a_repository_above_the_checkout_is_never_read(checkout, settings):
    checkout.commit({"a": "1"})
    settings.BASE_DIR = checkout.folder / "inside"
    (settings.BASE_DIR / ".git").mkdir(parents=True)
    with pytest.raises(Unavailable):
        open_repository(HERE, None)


@pytest.mark.parametrize("environment", ["preview", "production"])
def test_the_checkout_is_read_in_local_only(checkout, settings, environment):
    checkout.commit({"a": "1"})
    settings.PORTHOLE_ENV = environment
    assert refused(open_repository, HERE, None) == "applicationId: no_repository"


def test_a_damaged_checkout_is_unavailable(checkout, settings, tmp_path):
    sha = checkout.commit({"a": "1"})
    tree = str(checkout.repository[sha].tree_id)
    (checkout.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(Unavailable, match=r"^The application's repository cannot be read at the moment\.$"):
        open_repository(HERE, None).list("")
    settings.BASE_DIR = tmp_path / "moved"
    settings.BASE_DIR.mkdir()
    (settings.BASE_DIR / ".git").write_text("gitdir: /nowhere/at/all")
    with pytest.raises(Unavailable):
        open_repository(HERE, None)


# Directories


def test_directories_come_first_then_names_by_code_point(checkout):
    checkout.commit({"b": "1", "B": "1", "é": "1", "a.d": {"x": "1"}, "a": {"x": "1"}, "Z": {"x": "1"}, "_": "1"})
    assert names(open_repository(HERE, None)) == ["Z", "a", "a.d", "B", "_", "b", "é"]


def test_an_entry_says_what_it_is(checkout):
    sha = checkout.commit({"src": {"main.py": "print()\n", "l": Link("../../etc/passwd"), "sub": Submodule(NOWHERE)}})
    tree = checkout.repository[sha].tree["src"]
    assert open_repository(HERE, None).list("src") == (
        Entry("src/l", "l", "symlink", 16, str(tree["l"].id)),
        Entry("src/main.py", "main.py", "file", 8, str(tree["main.py"].id)),
        Entry("src/sub", "sub", "submodule", None, NOWHERE),
    )
    assert open_repository(HERE, None).list("") == (Entry("src", "src", "directory", None, str(tree.id)),)
    assert open_repository(HERE, None).list("src/") == open_repository(HERE, None).list("src")


def test_what_is_no_directory_is_not_listed(checkout):
    checkout.commit({"f": "1", "d": {"f": "1"}, "l": Link("d"), "s": Submodule(NOWHERE)})
    repository = open_repository(HERE, None)
    for path in ("f", "f/", "l", "l/", "s", "d/f"):
        assert refused(repository.list, path) == "path: not_a_directory"
    for path in ("x", "d/x", "f/x", "l/f", "s/x"):
        assert refused(repository.list, path) == "path: path_not_found"


@pytest.mark.parametrize(
    "path",
    [
        "/", "/etc/passwd", "//", "d//f", "d/f//", "..", "../f", "d/../f", "d/..", ".", "./f", "d/./f", ".git",
        ".GIT/config", "d/.git/config", ".Git", "f\0", "\0", "d\\f", "x" * 1025, "\ud800", "d/\udcff", "file:///etc",
        "%2e%2e/f", "~",
    ],
)  # fmt: skip
def test_a_path_that_leads_elsewhere_leads_nowhere(checkout, path):
    checkout.commit({"f": "1", "d": {"f": "1"}})
    repository = open_repository(HERE, None)
    assert refused(repository.list, path) == "path: path_not_found"
    assert refused(repository.read, path, 0, 1024) == "path: path_not_found"


def test_names_that_are_not_utf8_or_have_control_characters_are_listed(checkout):
    blob = str(checkout.repository.create_blob(b"x"))
    raw = [b"\xff\xfe", b"\xfe\xff", b"a\nb", b"a\x1b[31m", b"n" * 3000, "日本".encode()]
    checkout.commit_tree(checkout.raw_tree(*((b"100644", name, blob) for name in sorted(raw))))
    repository = open_repository(HERE, None)
    listed = names(repository)
    assert set(listed) == {"\ufffd\ufffd", "a\nb", "a\x1b[31m", "n" * 254 + "…", "日本"}
    assert len(listed) == 6
    assert repository.read("a\nb", 0, 1024).content == "x"
    for name in ("\ufffd\ufffd", "\udcff\udcfe", "n" * 254 + "…"):
        assert refused(repository.read, name, 0, 1024) == "path: path_not_found"


def test_a_tree_that_git_would_never_make_is_harmless(checkout):
    blob = str(checkout.repository.create_blob(b"x"))
    directory = str(checkout.tree({"f": "1"}))
    checkout.commit_tree(
        checkout.raw_tree(
            (b"100644", b"..", blob), (b"100644", b".GIT", blob), (b"100644", b".git", blob),
            (b"40000", b"blob", blob), (b"100644", b"tree", directory),
            (b"40000", b"void", NOWHERE), (b"100777", b"zz", blob),
        )
    )  # fmt: skip
    repository = open_repository(HERE, None)
    assert set(names(repository)) == {"..", ".GIT", ".git", "blob", "tree", "void", "zz"}
    for path in ("..", ".git", ".GIT"):
        assert refused(repository.read, path, 0, 1024) == "path: path_not_found"
    assert repository.read("zz", 0, 1024).content == "x"
    for call, path in ((repository.list, "blob"), (repository.list, "void")):
        with pytest.raises(Unavailable):
            call(path)
    with pytest.raises(Unavailable):
        repository.read("tree", 0, 1024)


def test_twenty_thousand_names_are_listed_fast(checkout):
    blob = str(checkout.repository.create_blob(b"x"))
    tree = checkout.raw_tree(*((b"100644", b"f%05d" % number, blob) for number in range(20_000)))
    checkout.commit_tree(tree)
    repository = open_repository(HERE, None)
    started = time.perf_counter()
    assert len(repository.list("")) == 20_000
    assert time.perf_counter() - started < 15  # about 0.15 s; a process for each name would take a minute


def test_a_directory_that_would_take_all_memory_is_too_large(checkout, monkeypatch):
    monkeypatch.setattr(git, "MAX_TREE_BYTES", 100)
    checkout.commit({"d": {f"name{number}": "1" for number in range(10)}, "f": "1"})
    repository = open_repository(HERE, None)
    assert names(repository) == ["d", "f"]
    assert refused(repository.list, "d") == "path: too_large"
    assert refused(repository.read, "d/name1", 0, 1024) == "path: too_large"


# Files


def test_a_file_is_read_in_pieces(checkout):
    checkout.commit({"d": {"f": "äöü" * 1000}})
    repository = open_repository(HERE, None)
    first = repository.read("d/f", 0, 1025)
    assert (first.path, first.size, first.encoding, first.is_truncated, first.next_offset) == (
        "d/f", 6000, "utf-8", True, 1024,
    )  # fmt: skip
    assert first.sha == repository.list("d")[0].sha
    last = repository.read("d/f", 5000, 65536)
    assert (len(last.content), last.is_truncated, last.next_offset) == (500, False, None)
    assert refused(repository.read, "d/f", 1, 1024) == "offset: out_of_range"
    assert refused(repository.read, "d/f", 6001, 1024) == "offset: out_of_range"


@given(
    content=st.one_of(
        st.binary(max_size=5000), st.text(max_size=3000).map(lambda text: text.encode("utf-8", "replace"))
    )
)
@examples(25)
def test_the_pieces_of_a_blob_are_its_bytes(checkout, content):
    checkout.repository.references.create(
        "refs/heads/main",
        checkout.repository.create_commit(None, SIGNATURE, SIGNATURE, "A file", checkout.tree({"f": content}), []),
        force=True,
    )
    repository = open_repository(HERE, None)
    data, offset = b"", 0
    while offset is not None:
        chunk = repository.read("f", offset, 1024)
        data += b64decode(chunk.content) if chunk.encoding == "base64" else chunk.content.encode()
        offset = chunk.next_offset
    assert data == content


def test_what_is_no_file_is_not_read(checkout):
    checkout.commit({"f": "1", "d": {"f": "1"}, "s": Submodule(NOWHERE)})
    repository = open_repository(HERE, None)
    for path in ("", "d", "d/", "s"):
        assert refused(repository.read, path, 0, 1024) == "path: is_directory"
    assert refused(repository.read, "f/", 0, 1024) == "path: not_a_directory"
    for path in ("x", "d/x", "f/x", "s/x"):
        assert refused(repository.read, path, 0, 1024) == "path: path_not_found"


def test_a_symbolic_link_is_answered_as_where_it_leads(checkout):
    checkout.commit({".env": "KEY=value", "innocent": Link(".env"), "up": Link("../../etc/passwd"), "d": Link(".")})
    repository = open_repository(HERE, None)
    assert repository.read("innocent", 0, 1024).content == ".env"
    assert repository.read("up", 0, 1024).content == "../../etc/passwd"
    assert refused(repository.read, "d/innocent", 0, 1024) == "path: path_not_found"


def test_secrets_are_listed_and_not_read(checkout):
    secrets = {".env": "K=v", ".ENV.local": "K=v", "id_rsa": "k", "a.pem": "k", "d.key": {"inside": "k"}}
    checkout.commit(secrets | {".env.example": "K=", "id_rsa.pub": "k"})
    repository = open_repository(HERE, None)
    assert set(names(repository)) == set(secrets) | {".env.example", "id_rsa.pub"}
    for path in (".env", ".ENV.local", "id_rsa", "a.pem", "d.key/inside"):
        assert refused(repository.read, path, 0, 1024) == "path: secret_file"
    assert repository.read(".env.example", 0, 1024).content == "K="
    assert repository.read("id_rsa.pub", 0, 1024).content == "k"
    assert refused(repository.read, ".env.production", 0, 1024) == "path: path_not_found"


def test_a_private_key_in_any_text_is_masked_also_where_a_chunk_begins_inside(checkout):
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + ("MIIEvQIBADANBgkq\n" * 200) + "-----END RSA PRIVATE KEY-----\n"
    content = "user: ada\n" + key + "after: 1\n"
    checkout.commit({"notes.txt": content, "tool": b"\0" + key.encode()})
    repository = open_repository(HERE, None)
    shown, offset = "", 0
    while offset is not None:
        chunk = repository.read("notes.txt", offset, 1024)
        assert (chunk.redaction_count, chunk.size) == (1, len(content))
        shown += chunk.content
        offset = chunk.next_offset
    assert shown == content.replace("MIIEvQIBADANBgkq", "X" * 16)
    assert "MIIE" not in repository.read("notes.txt", 1500, 1024).content
    assert repository.read("tool", 0, 1024).redaction_count == 0


def test_what_was_found_in_a_file_of_a_mirror_is_kept_with_it_for_the_next_process(origin, monkeypatch):
    text, planted = next(planted_of("GitHub classic"))
    origin.commit({"a": text})
    first = open_repository(SHOP, None).read("a", 0, 1024)
    assert (first.redaction_count, planted.text in first.content) == (1, False)
    assert [path.name for path in Mirror(SHOP.url, SHOP.key).generation().glob("scanned/*/*")] == [first.sha]
    scans._kept.clear()
    monkeypatch.setattr(scans, "search", None)
    assert open_repository(SHOP, None).read("a", 0, 1024) == first


def test_what_was_found_in_a_file_of_the_checkout_is_kept_in_memory(checkout, monkeypatch, tmp_path):
    text, _ = next(planted_of("npm"))
    checkout.commit({"a": text})
    before = set(tmp_path.rglob("*"))
    first = open_repository(HERE, None).read("a", 0, 1024)
    assert first.redaction_count == 1
    assert set(tmp_path.rglob("*")) == before
    monkeypatch.setattr(scans, "search", None)
    assert open_repository(HERE, None).read("a", 0, 1024) == first


def test_a_pointer_to_large_file_storage_is_answered_as_it_is(checkout):
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    checkout.commit({"big.bin": pointer})
    assert open_repository(HERE, None).read("big.bin", 0, 1024).content == pointer


def test_a_file_of_one_mebibyte_is_too_large_wherever_it_is(origin, checkout):
    sizes = {"limit": 1024 * 1024, "under": 1024 * 1024 - 1}
    files = {name: b"\n" * size for name, size in sizes.items()}
    origin.commit(files)
    checkout.commit(files)
    for location, known in ((SHOP, None), (HERE, 1024 * 1024)):
        repository = open_repository(location, None)
        assert [(entry.name, entry.size) for entry in repository.list("")] == [
            ("limit", known), ("under", 1024 * 1024 - 1),
        ]  # fmt: skip
        assert refused(repository.read, "limit", 0, 1024) == "path: too_large"
        assert repository.read("under", 1024 * 1024 - 10, 1024).content == "\n" * 9


def test_a_server_that_filters_nothing_makes_no_difference_to_what_is_read(origin):
    origin.repository.config["uploadpack.allowFilter"] = False
    origin.commit({"limit": b"\n" * 1024 * 1024, "a": "1"})
    repository = open_repository(SHOP, None)
    assert refused(repository.read, "limit", 0, 1024) == "path: too_large"
    assert repository.read("a", 0, 1024).content == "1"
