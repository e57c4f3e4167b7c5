"""Repositories that are small on the wire and huge when they are unpacked, and a server that sends them to git."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

COMMIT, TREE, BLOB, TAG, REF_DELTA = 1, 2, 3, 4, 7
NAMES = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob", TAG: b"tag"}
EMPTY_TREE = bytes.fromhex("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
MIB = 1024 * 1024
AUTHOR = b"Ada <ada@example.com> 1700000000 +0000"


class Pack:
    """Objects, as git sends them."""

    def __init__(self) -> None:
        self.objects: list[bytes] = []

    def add(self, kind: int, content: bytes, *, then: int = 0) -> bytes:
        """An object of `content` and as many spaces as `then` says, which are never in memory. Its sha."""
        size, spaces = len(content) + then, b" " * MIB
        sha, packed = sha1(NAMES[kind] + b" %d\0" % size + content), zlib.compressobj(1)
        data = [packed.compress(content)]
        for done in range(0, then, MIB):
            piece = spaces[: then - done]
            sha.update(piece)
            data.append(packed.compress(piece))
        self.objects.append(header(kind, size) + b"".join(data) + packed.flush())
        return sha.digest()

    def add_delta(self, base: bytes, base_size: int, times: int) -> None:
        """The object that `base`, repeated, makes."""
        assert base_size == 0x10000  # which is what a copy without a size copies
        copies = b"\x80" * times
        delta = number(base_size) + number(base_size * times) + copies
        self.objects.append(header(REF_DELTA, len(delta)) + base + zlib.compress(delta))

    def data(self) -> bytes:
        body = b"PACK" + struct.pack(">II", 2, len(self.objects)) + b"".join(self.objects)
        return body + sha1(body).digest()


def header(kind: int, size: int) -> bytes:
    first, rest = (kind << 4) | (size & 15), size >> 4
    return bytes([first | 0x80]) + number(rest) if rest else bytes([first])


def number(value: int) -> bytes:
    low, rest = value & 127, value >> 7
    return bytes([low | 0x80]) + number(rest) if rest else bytes([low])


def commit_of(tree: bytes) -> bytes:
    return b"tree " + tree.hex().encode() + b"\nauthor " + AUTHOR + b"\ncommitter " + AUTHOR + b"\n\n"


def large_commit(size: int) -> tuple[bytes, bytes]:
    """A head, and the pack: a commit whose message has `size` bytes."""
    pack = Pack()
    pack.add(TREE, b"")
    head = pack.add(COMMIT, commit_of(EMPTY_TREE), then=size)
    return head, pack.data()


def large_delta(times: int) -> tuple[bytes, bytes]:
    """A head, and the pack: a blob of 64 KiB, and another that has it so many times."""
    pack = Pack()
    base = pack.add(BLOB, b" " * 0x10000)
    pack.add_delta(base, 0x10000, times)
    pack.add(TREE, b"")
    return pack.add(COMMIT, commit_of(EMPTY_TREE)), pack.data()


def packet(content: bytes) -> bytes:
    return b"%04x" % (len(content) + 4) + content


def sideband(data: bytes) -> bytes:
    pieces = [packet(b"\x01" + data[start : start + 60000]) for start in range(0, len(data), 60000)]
    return b"".join(pieces) + b"0000"


@contextmanager
def serving(head: bytes, pack: bytes) -> Iterator[str]:
    """The address of a repository whose one branch, main, is `head`; whatever is wanted, `pack` is sent."""
    sha = head.hex().encode()
    capabilities = b"multi_ack_detailed side-band-64k thin-pack ofs-delta shallow filter"
    advertised = packet(b"# service=git-upload-pack\n") + b"0000" + packet(sha + b" HEAD\0" + capabilities + b"\n")
    refs = advertised + packet(sha + b" refs/heads/main\n") + b"0000"
    shallow = packet(b"shallow " + sha) + b"0000"
    with _answering(refs, {}, asked=shallow, done=shallow + packet(b"NAK\n") + sideband(pack)) as address:
        yield address


@contextmanager
def large_advertisement(size: int) -> Iterator[str]:
    """The address of a repository whose list of refs is gzip'd, and has so many bytes without."""
    line = packet(b"0" * 39 + b"1 refs/heads/" + b"a" * 60000 + b"\n")
    packed = zlib.compressobj(1, wbits=31)  # gzip
    data = [packed.compress(packet(b"# service=git-upload-pack\n") + b"0000")]
    data += [packed.compress(line) for _ in range(size // len(line))]
    with _answering(b"".join(data) + packed.flush(), {"Content-Encoding": "gzip"}) as address:
        yield address


@contextmanager
def _answering(refs: bytes, headers: dict[str, str], *, asked: bytes = b"", done: bytes = b"") -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer("advertisement", refs, headers)

        def do_POST(self) -> None:
            wants = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.answer("result", done if wants.endswith(b"0009done\n") else asked, {})

        def answer(self, kind: str, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", f"application/x-git-upload-pack-{kind}")
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:  # git has ended
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/a.git"
        finally:
            server.shutdown()
            thread.join()
