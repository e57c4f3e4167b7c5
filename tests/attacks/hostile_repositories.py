"""Repositories as attackers make them, and git hosts that answer what no git would send.

museum(remote)          # one repository with everything odd that a real git server passes on
sending(head, pack)     # a host's answer (tests.fakes.git_remote.Behaviour): this commit, and this pack
"""

import hashlib
from collections.abc import Callable
from itertools import count

import pygit2
from pygit2.enums import ObjectType

from tests.fakes.git_remote import Behaviour, GitRemote, Handler
from tests.faults.bombs import AUTHOR, COMMIT, TREE, Pack, commit_of, packet, sideband
from tests.sources.git.origins import Link, Origin, Submodule

MIB = 1024 * 1024
NOWHERE = "1" * 40
LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 12345\n"
MODULES = '[submodule "../../.git/hooks"]\n\tpath = vendored\n\turl = ext::sh -c "touch pwned"\n'
ATTRIBUTES = "* filter=evil ident export-subst working-tree-encoding=UTF-16\n[attr]evil diff=evil\n"
CONFIG = '[core]\n\tfsmonitor = "touch pwned"\n[include]\n\tpath = /etc/passwd\n'
HOOK = "#!/bin/sh\ntouch pwned\n"

# Every one is a file's whole name, and holds its own name.
NAMES = [
    "new\nline", "car\rreturn", "tab\tname", "red\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "bell\x07", "\x7f",
    "rtl\u202egnp.exe", "\u200ehidden\u200b", "\ufeffbom", "git~1", "GIT~1", "gi\u200ct", ".git\u200c", ".git ",
    ".git.",
    "...", " ", "back\\slash", "C:\\con", "nul", "a:b", "\"'<script>", "-rf", "--upload-pack=touch pwned",
    "$(touch pwned)", "`touch pwned`", "%2e%2e", "%00", "\\0", "~", "*", "{x}", "$GIT_DIR", "GIT_CONFIG_COUNT=1",
    "caf\u00e9", "cafe\u0301", "readme", "README", "n" * 255, "b" * 256, "\u0416" * 255, "\U0001f600" * 64,
    "HEAD", "FETCH_HEAD", "index.lock", "objects",
]  # fmt: skip
RAW_NAMES = [b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"m" * 3000]
MODES = [b"100777", b"100600", b"10644", b"60000", b"20666", b"140777", b"177777", b"120777", b"160755"]


class Museum:
    """What is in it: `shas` by what they are of."""

    def __init__(self, origin: Origin) -> None:
        self.origin, self.shas = origin, {}
        head = str(origin.commit_tree(self._tree()))
        self.shas["head"] = head
        self.shas["other"] = origin.commit({"f": "other"}, "HEAD")
        self._tag_everything(head)
        origin.repository.references.create("refs/pull/1/head", self.shas["other"])

    def _tree(self) -> pygit2.Oid:
        origin = self.origin
        blob = origin.repository.create_blob
        entries = [(b"100644", name.encode(), str(blob(name.encode()))) for name in NAMES]
        entries += [(b"100644", name, str(blob(b"x"))) for name in (*RAW_NAMES, b".git", b".GIT", b"..", b".")]
        entries += [(mode, b"mode-" + mode, str(blob(b"odd"))) for mode in MODES]
        for name, content in {
            "files": {
                "lfs.bin": LFS, ".gitmodules": MODULES, ".gitattributes": ATTRIBUTES, ".gitconfig": CONFIG,
                "hooks": {"post-checkout": HOOK}, "large": b"\0" * (60 * MIB), ".env": "SECRET=hunter2",
                "vendored": Submodule(NOWHERE), "empty": "",
            },
            "links": {
                "absolute": Link("/etc/passwd"), "out": Link("../../../../../etc/passwd"), "self": Link("self"),
                "a": Link("b"), "b": Link("a"), "dir": Link("../files"), "root": Link("/"), "up": Link(".."),
                "env": Link("../files/.env"), "red": Link("\x1b[31m\n/etc"), "long": Link("x" * (2 * MIB)),
            },
            "nothing": {},
            "deep": self._deep(300), "abyss": self._deep(5000),
        }.items():  # fmt: skip
            tree = content if isinstance(content, pygit2.Oid) else origin.tree(content)
            self.shas[name] = str(tree)
            entries.append((b"40000", name.encode(), str(tree)))
        files = origin.repository[self.shas["files"]]
        self.shas |= {"blob": str(files["lfs.bin"].id), "large": str(files["large"].id)}
        return origin.raw_tree(*sorted(entries, key=lambda one: one[1] + (b"/" if one[0] == b"40000" else b"")))

    def _deep(self, levels: int) -> pygit2.Oid:
        tree = self.origin.tree({"f": "deep"})
        for _ in range(levels):
            tree = self.origin.raw_tree((b"40000", b"d", str(tree)))
        return tree

    def _tag_everything(self, head: str) -> None:
        origin = self.origin
        for name, target in (("blob", "blob"), ("tree", "files"), ("large", "large")):
            origin.tag(f"{name}-itself", self.shas[target])
            origin.tag(f"{name}-annotated", self.shas[target], annotated=True)
        target = head
        for number in range(1, 8):
            origin.tag(f"chain-{number}", target, annotated=True)
            target = str(origin.repository.references[f"refs/tags/chain-{number}"].target)
        self.shas["tag"] = target
        self.shas["twins"] = twins(origin)


def twins(origin: Origin) -> str:
    """The 7 digits that two commits begin with: the branches twin-0 and twin-1."""
    tree, seen = origin.repository.TreeBuilder().write(), {}
    for number in count():
        content = commit_of(bytes.fromhex(str(tree))) + b"%d" % number
        start = hashlib.sha1(b"commit %d\0" % len(content) + content).hexdigest()[:7]
        if start in seen:
            break
        seen[start] = content
    for index, one in enumerate((seen[start], content)):
        sha = origin.repository.odb.write(ObjectType.COMMIT, one)
        origin.repository.references.create(f"refs/heads/twin-{index}", sha)
    return start


def museum(remote: GitRemote) -> Museum:
    return Museum(remote.origin("acme/museum"))


# Hosts that are no git


def answering(advertised: bytes, *, refs: bytes = b"", fetched: bytes = b"") -> Behaviour:
    """Protocol version 2: what is advertised, the answer to ls-refs, and the answer to fetch."""

    def behave(handler: Handler) -> None:
        asked = handler.rfile.read(int(handler.headers["Content-Length"] or 0))
        kind = "advertisement" if handler.command == "GET" else "result"
        body = advertised if kind == "advertisement" else refs if b"command=ls-refs" in asked else fetched
        handler.answer(200, {"Content-Type": f"application/x-git-upload-pack-{kind}"}, body)

    return behave


SERVICE = packet(b"# service=git-upload-pack\n") + b"0000"
VERSION_2 = SERVICE + b"".join(
    map(packet, (b"version 2\n", b"ls-refs\n", b"fetch=shallow filter packfile-uris\n", b"object-format=sha1\n"))
) + b"0000"  # fmt: skip


def sending(head: bytes, pack: bytes, *, before: bytes = b"") -> Behaviour:
    """`before`: what comes before the pack."""
    sha = head.hex().encode()
    refs = packet(sha + b" refs/heads/main\n") + packet(sha + b" HEAD\n") + b"0000"
    shallow = packet(b"shallow-info\n") + packet(b"shallow " + sha + b"\n") + b"0001"
    return answering(VERSION_2, refs=refs, fetched=shallow + before + packet(b"packfile\n") + sideband(pack))


def saying(words: bytes) -> Behaviour:
    """An error, in the other side's words."""
    return answering(SERVICE + packet(b"ERR " + words))


def elsewhere(uri: str) -> bytes:
    """A section that nobody asked for: the rest of the pack is to be fetched from there."""
    return packet(b"packfile-uris\n") + packet(b"0" * 40 + b" " + uri.encode() + b"\n") + b"0001"


def pack_of(make: Callable[[Pack], bytes]) -> tuple[bytes, bytes]:
    """A head and a pack: `make` adds objects and gives the root tree's id."""
    pack = Pack()
    return pack.add(COMMIT, commit_of(make(pack))), pack.data()


def tree_of(*entries: tuple[bytes, bytes, bytes]) -> bytes:
    return b"".join(mode + b" " + name + b"\0" + sha for mode, name, sha in entries)


def commit_pack(content: bytes) -> tuple[bytes, bytes]:
    """A commit with this content, where TREE is the id of an empty tree."""
    pack = Pack()
    tree = pack.add(TREE, b"").hex().encode()
    return pack.add(COMMIT, content.replace(b"TREE", tree).replace(b"WHO", AUTHOR)), pack.data()
