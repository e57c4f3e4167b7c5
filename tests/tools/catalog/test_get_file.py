"""get_file. Without a repository: test_list_files.py; how files are cut: tests/sources/git/test_chunks.py."""

from base64 import b64decode
from random import Random
from typing import Any

import pytest

from apps.sources.git import credentials, stamps
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import START, Fill
from tests.sources.git.origins import Link, Submodule
from tests.sources.git.planted import KINDS, planted_of
from tests.tools.catalog.contract import WIDEST, notation

TREE = {
    "README.md": "# Shop\nö\n",
    "logo.png": b"\x89PNG\x00\xff",
    "empty": "",
    "apps": {"main.py": "print()\n", ".env": "SECRET=hunter2"},
    ".env": "SECRET=hunter2",
    ".env.example": "SECRET=",
    "id_rsa": "hunter2",
    "tls.key": "hunter2",
    "link": Link("apps/main.py"),
    "vendored": Submodule("1" * 40),
}


def refused(api: Api, fill: Fill, **inputs: Any) -> list[tuple[str | None, str]]:
    return api.refused("get_file", applicationId=fill.app.id, **inputs)


def test_it_answers_what_the_contract_says() -> None:
    assert notation(TOOLS["get_file"].Output) == (
        "{path,ref,commitSha,sha,size,encoding:utf-8|base64,content,isTruncated,nextOffset?,startLine?,nextLine?,"
        "totalLines?,redactionCount,committedAt,fetchedAt,isStale}"
    )


def test_a_file_is_answered_with_what_it_is(
    api: Api, acme: Fill, checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stamps, "now", lambda: START.timestamp() + 0.5)
    commit = checkout.commit(TREE)
    answer = api("get_file", applicationId=acme.app.id, path="README.md")
    listed = {item["path"]: item for item in api("list_files", applicationId=acme.app.id)["items"]}
    assert answer == {
        "path": "README.md",
        "ref": "main",
        "commitSha": commit,
        "sha": listed["README.md"]["sha"],
        "size": 10,
        "encoding": "utf-8",
        "content": "# Shop\nö\n",
        "isTruncated": False,
        "nextOffset": None,
        "startLine": 1,
        "nextLine": None,
        "totalLines": 2,
        "redactionCount": 0,
        "committedAt": "2023-11-14T22:13:20.000Z",
        "fetchedAt": "2026-03-01T12:00:00.500Z",
        "isStale": False,
    }


def test_a_file_in_a_folder_an_empty_one_and_where_a_link_leads(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit(TREE)
    for path, content in (("apps/main.py", "print()\n"), ("empty", ""), ("link", "apps/main.py")):
        assert api("get_file", applicationId=acme.app.id, path=path)["content"] == content


def test_text_in_another_encoding_is_masked_too(api: Api, acme: Fill, checkout: Any) -> None:
    token = "".join(["gh", "p_", "A1b2C3d4E5f6" * 3])
    checkout.commit({"old.ini": f"; Schl\xfcssel\ntoken = {token}\n".encode("latin-1")})
    answer = api("get_file", applicationId=acme.app.id, path="old.ini")
    assert (answer["encoding"], answer["redactionCount"]) == ("base64", 1)
    assert b64decode(answer["content"]) == b"; Schl\xfcssel\ntoken = " + b"X" * len(token) + b"\n"


def test_bytes_that_are_no_text_are_base64(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit(TREE)
    answer = api("get_file", applicationId=acme.app.id, path="logo.png")
    assert (answer["encoding"], b64decode(answer["content"]), answer["size"]) == ("base64", b"\x89PNG\x00\xff", 6)


@pytest.mark.parametrize(
    "data",
    ["aé€𝔘" * 1000, b"\xff" + bytes(range(256)) * 20, "x" * 1024, "x" * 1025],
    ids=["text", "bytes", "one", "two"],
)
def test_chunks_put_together_are_the_file(api: Api, acme: Fill, checkout: Any, data: Any) -> None:
    checkout.commit({"f": data})
    raw = data.encode() if isinstance(data, str) else data
    together, offset, encodings = b"", 0, set()
    while offset is not None:
        chunk = api("get_file", applicationId=acme.app.id, path="f", offset=offset, maxBytes=1024)
        content = chunk["content"].encode()
        assert len(content) <= 1024
        assert (chunk["size"], chunk["isTruncated"]) == (len(raw), chunk["nextOffset"] is not None)
        together += b64decode(content) if chunk["encoding"] == "base64" else content
        encodings.add(chunk["encoding"])
        offset = chunk["nextOffset"]
    assert together == raw
    assert encodings == {"utf-8" if isinstance(data, str) else "base64"}


def test_a_commit_keeps_chunks_of_one_version_together(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit({"f": "1" * 2000})
    first = api("get_file", applicationId=acme.app.id, path="f", maxBytes=1024)
    checkout.commit({"f": "2" * 2000})
    rest = {"path": "f", "offset": first["nextOffset"]}
    again = api("get_file", applicationId=acme.app.id, ref=first["commitSha"], **rest)
    assert (again["content"], again["ref"], again["commitSha"]) == ("1" * 976, first["commitSha"], first["commitSha"])
    assert api("get_file", applicationId=acme.app.id, **rest)["content"] == "2" * 976


@pytest.mark.parametrize(("asked", "most"), [({}, 32768), ({"maxBytes": 65536}, 65536)])
def test_32_kib_are_answered_at_once_or_64_where_asked_for_and_no_more(
    api: Api, acme: Fill, checkout: Any, asked: Any, most: int
) -> None:
    checkout.commit({"f": "x" * (most + 1), "exact": "x" * most})
    answer = api("get_file", applicationId=acme.app.id, path="f", **asked)
    assert (len(answer["content"]), answer["isTruncated"], answer["nextOffset"]) == (most, True, most)
    assert api("get_file", applicationId=acme.app.id, path="exact", **asked)["isTruncated"] is False


def test_a_part_is_read_by_lines(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit({"f": "one\r\ntwo\r\nthree", "empty": ""})

    def part(path: str = "f", **inputs: Any) -> list[Any]:
        answer = api("get_file", applicationId=acme.app.id, path=path, **inputs)
        return [answer[name] for name in ("content", "startLine", "nextLine", "nextOffset", "totalLines")]

    assert part(startLine=2, lines=1) == ["two\r\n", 2, 3, 10, 3]
    assert part(lines=1) == ["one\r\n", 1, 2, 5, 3]
    assert part(startLine=3) == ["three", 3, None, None, 3]
    assert part(offset=7) == ["o\r\nthree", 2, None, None, 3]
    assert part("empty", startLine=1, lines=9) == ["", None, None, None, 0]
    assert refused(api, acme, path="f", startLine=4) == [("startLine", "out_of_range")]


@pytest.mark.parametrize("by_lines", [{"startLine": 1}, {"lines": 2}, {"startLine": 2, "lines": 1}])
def test_a_part_is_named_by_lines_or_by_bytes(api: Api, acme: Fill, checkout: Any, by_lines: Any) -> None:
    checkout.commit(TREE)
    assert refused(api, acme, path="README.md", offset=0, **by_lines) == [("offset", "invalid")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("lines", [{}, {"lines": 1}, {"lines": 7}])
def test_a_key_stays_masked_wherever_a_chunk_by_lines_begins(
    api: Api, acme: Fill, checkout: Any, end: str, lines: Any
) -> None:
    key = end.join(["-----BEGIN PRIVATE KEY-----", *["MIIE" * 16] * 30, "-----END PRIVATE KEY-----"])
    checkout.commit({"f": f"a{end}{key}{end}" + "z" * 3000 + end + "last"})
    asked = {"applicationId": acme.app.id, "path": "f", "maxBytes": 1024}

    def walk(place: dict[str, int], **more: Any) -> str:
        together = ""
        while True:
            answer = api("get_file", **asked, **place, **more)
            together += answer["content"]
            if answer["nextOffset"] is None:
                return together
            is_by_line = more or "startLine" in place
            by_line = is_by_line and answer["nextLine"] is not None
            place = {"startLine": answer["nextLine"]} if by_line else {"offset": answer["nextOffset"]}
            more = lines if by_line else {}

    whole = walk({"offset": 0})
    assert walk({"startLine": 1}, **lines) == whole
    assert "MIIE" not in whole
    assert len(whole) == answer_size(api, acme)


def answer_size(api: Api, acme: Fill) -> int:
    return api("get_file", applicationId=acme.app.id, path="f", maxBytes=1024)["size"]


@pytest.mark.parametrize("path", [".env", "id_rsa", "tls.key", "apps/.env"])
def test_secrets_by_nature_are_not_read(api: Api, acme: Fill, checkout: Any, path: str) -> None:
    checkout.commit(TREE)
    response = api.post("get_file", {"applicationId": acme.app.id, "path": path})
    assert response.status_code == 422
    assert "hunter2" not in response.content.decode()
    assert refused(api, acme, path=path) == [("path", "secret_file")]


def test_an_example_of_a_secret_file_is_read(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit(TREE)
    assert api("get_file", applicationId=acme.app.id, path=".env.example")["content"] == "SECRET="


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("apps", "is_directory"),
        ("apps/", "is_directory"),
        ("vendored", "is_directory"),
        ("README.md/", "not_a_directory"),
        ("README.md/x", "path_not_found"),
        ("link/x", "path_not_found"),
        ("nowhere", "path_not_found"),
        ("../README.md", "path_not_found"),
        ("apps/../README.md", "path_not_found"),
        ("./README.md", "path_not_found"),
        ("/README.md", "path_not_found"),
        ("/etc/passwd", "path_not_found"),
        ("../../../../etc/passwd", "path_not_found"),
        ("apps//main.py", "path_not_found"),
        (".git/config", "path_not_found"),
        ("readme.md", "path_not_found"),
        ("README.md ", "path_not_found"),
        (".", "path_not_found"),
        ("/", "path_not_found"),
    ],
)
def test_only_files_of_the_repository_are_read(api: Api, acme: Fill, checkout: Any, path: str, problem: str) -> None:
    checkout.commit(TREE)
    assert refused(api, acme, path=path) == [("path", problem)]


def test_what_is_only_in_the_working_tree_is_not_read(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit(TREE)
    (checkout.folder / "uncommitted").write_text("hunter2")
    assert refused(api, acme, path="uncommitted") == [("path", "path_not_found")]


def test_a_file_of_1_mib_is_too_large(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit({"f": "x" * 2**20, "less": "x" * (2**20 - 1)})
    assert refused(api, acme, path="f") == [("path", "too_large")]
    last = api("get_file", applicationId=acme.app.id, path="less", offset=2**20 - 3)
    assert (last["content"], last["nextOffset"]) == ("xx", None)


def test_an_offset_is_a_place_in_the_file(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit({"f": "aé"})
    assert api("get_file", applicationId=acme.app.id, path="f", offset=1)["content"] == "é"
    assert api("get_file", applicationId=acme.app.id, path="f", offset=3)["content"] == ""
    for offset in (2, 4, 2**53):
        assert refused(api, acme, path="f", offset=offset) == [("offset", "out_of_range")]


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"maxBytes": 1023}, ("maxBytes", "min_value")),
        ({"maxBytes": 65537}, ("maxBytes", "max_value")),
        ({"maxBytes": "2000"}, ("maxBytes", "invalid")),
        ({"offset": -1}, ("offset", "min_value")),
        ({"offset": 2**63}, ("offset", "max_value")),
        ({"offset": True}, ("offset", "invalid")),
        ({"startLine": 0}, ("startLine", "min_value")),
        ({"startLine": 2**63}, ("startLine", "max_value")),
        ({"lines": 0}, ("lines", "min_value")),
        ({"lines": 65537}, ("lines", "max_value")),
        ({"lines": "1"}, ("lines", "invalid")),
        ({"path": ""}, ("path", "blank")),
        ({"path": "x" * 1025}, ("path", "max_length")),
        ({"ref": ""}, ("ref", "blank")),
        ({"ref": "nowhere"}, ("ref", "ref_not_found")),
        ({"ref": "--upload-pack=x"}, ("ref", "ref_not_found")),
        ({"cursor": "x"}, ("cursor", "unknown_key")),
    ],
)
def test_inputs_have_bounds(api: Api, acme: Fill, checkout: Any, inputs: Any, problem: tuple[str, str]) -> None:
    checkout.commit(TREE)
    assert refused(api, acme, **{"path": "README.md"} | inputs) == [problem]


@pytest.mark.parametrize("character", WIDEST)
def test_the_longest_answer_fits_into_128_kib(api: Api, acme: Fill, checkout: Any, character: str) -> None:
    parents = [character * 255] * 3 + [character * 254]
    folder: dict[str, Any] = {"f": character * (100_000 // len(character.encode()))}
    for name in reversed(parents[1:]):
        folder = {name: folder}
    checkout.commit({parents[0]: folder})
    path = "/".join([*parents, "f"])
    assert len(path) == 1024
    response = api.post("get_file", {"applicationId": acme.app.id, "path": path})
    assert response.status_code == 200
    assert len(response.content) <= 128 * 1024
    chunk = response.json()
    assert chunk["nextOffset"] == len(chunk["content"].encode()) > 16_000


@pytest.fixture
def planted(checkout: Any) -> tuple[str, set[str], int]:
    """A file with credentials of every kind, in the checkout; what must not be seen of it, and how many there are."""
    lines = [pair for kind in KINDS for pair in planted_of(kind)]
    Random(5).shuffle(lines)
    file = "".join(f"{text}\n" for text, _ in lines)
    checkout.commit({"f": file})
    secrets = [secret for _, planted in lines for secret in planted.secrets]
    return file, {part for secret in secrets for part in fragments(secret)}, len(secrets)


def fragments(text: str) -> set[str]:
    return {text[start : start + 8] for start in range(len(text) - 7)}


@pytest.mark.parametrize("lines", [None, pytest.param(3, marks=pytest.mark.soak), 50])
def test_no_credential_is_seen_wherever_a_chunk_begins(
    api: Api, acme: Fill, planted: tuple[str, set[str], int], lines: int | None
) -> None:
    file, secret, count = planted
    together, place = "", {"offset": 0} if lines is None else {"startLine": 1, "lines": lines}
    while place:
        answer = api("get_file", applicationId=acme.app.id, path="f", maxBytes=1024, **place)
        assert answer["redactionCount"] == count
        together += answer["content"]
        if lines is None or answer["nextLine"] is None:
            place = {"offset": answer["nextOffset"]} if answer["nextOffset"] is not None else {}
        else:
            place = {"startLine": answer["nextLine"], "lines": lines}
    assert not secret & fragments(together)
    assert [len(line.encode()) for line in together.split("\n")] == [len(line.encode()) for line in file.split("\n")]


def test_no_range_shows_a_part_of_a_credential(api: Api, acme: Fill, planted: tuple[str, set[str], int]) -> None:
    file, secret, _ = planted
    whole = api("get_file", applicationId=acme.app.id, path="f", maxBytes=65536)["content"].encode()
    assert len(whole) == len(file.encode())
    for offset in range(0, len(whole), 997):
        if whole[offset] & 0xC0 != 0x80:
            content = api("get_file", applicationId=acme.app.id, path="f", offset=offset, maxBytes=1024)["content"]
            assert whole[offset:].startswith(content.encode())
            assert not secret & fragments(content)


def test_what_cannot_be_searched_in_time_is_a_secret(
    api: Api, acme: Fill, checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "LIMIT", -1.0)
    checkout.commit({"f": "nothing that was ever searched"})
    assert refused(api, acme, path="f") == [("path", "secret_file")]
