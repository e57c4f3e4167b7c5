"""How much of a manifest is read, is in memory at one time, and is told; and that large ones are good."""

import os
import textwrap
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from apps.orgs.models import EnvVarName
from apps.platforms.management.files import manifest_in
from apps.platforms.manifest import entries, problems, yaml_stream
from apps.platforms.manifest.export import export
from apps.platforms.manifest.problems import MAX_TOLD, ManifestError
from apps.platforms.manifest.reader import read_manifest
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply
from apps.platforms.snapshot.differences import Changes
from tests.platforms.manifest.large import write_large_manifest
from tests.platforms.snapshots import NOON, app, manifest_platform, project

MIB = 1024 * 1024
FORMER_LIMIT = 5 * MIB
TOO_LARGE = "what starts here is larger than 5 MiB: an entry's lists do not count where its `key` comes first"


def refused(text: str) -> ManifestError:
    with pytest.raises(ManifestError) as raised:
        read_manifest(textwrap.dedent(text).encode())
    return raised.value


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.django_db
def test_an_export_beyond_the_former_limit_is_read_back_and_changes_nothing() -> None:
    apps = tuple(app(f"a{n:04}", slug="a", description="\U0001f98a" * 1000, created_at=NOON) for n in range(1400))
    snapshot = base.Snapshot(projects=(project(created_at=NOON),), apps=apps)
    platform = manifest_platform()
    assert apply(platform, snapshot) == Changes(created=1401)
    exported = export(platform)
    content = exported.encode()
    assert len(content) > FORMER_LIMIT
    again = read_manifest(content).snapshot
    assert again == snapshot
    assert apply(platform, again) == Changes()
    assert export(platform) == exported


@pytest.mark.soak
@pytest.mark.django_db
def test_the_large_manifest_of_other_tests_is_as_an_export_would_be(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    write_large_manifest(file, 1001)
    platform = manifest_platform()
    apply(platform, manifest_in(str(file)).snapshot)
    assert export(platform) == file.read_text()


@pytest.mark.both_databases
def test_rows_by_the_hundred_are_written_and_removed_in_pieces(db: None) -> None:
    def snapshot(numbers: range, name: str) -> base.Snapshot:
        apps = tuple(app(f"a{n:04}", name=name) for n in numbers)
        names = tuple(base.Variable(name="A", app=one.key) for one in apps)
        facts = tuple(base.EdgeStatistics(app=one.key, latency_p50_ms=1) for one in apps)
        return base.Snapshot(projects=(project(),), apps=apps, variables=names, edge_statistics=facts)

    platform = manifest_platform()
    assert apply(platform, snapshot(range(1100), "Old")) == Changes(created=1 + 3 * 1100)
    assert apply(platform, snapshot(range(1100), "Old")) == Changes()
    changes = apply(platform, snapshot(range(1000, 1200), "New"), allow_deletions=True)
    assert changes == Changes(created=300, updated=100, hidden=1000)
    assert apply(platform, snapshot(range(1000, 1200), "New")) == Changes()
    without = replace(snapshot(range(1000, 1200), "New"), variables=(), edge_statistics=())
    assert apply(platform, without) == Changes(deleted=400)
    assert EnvVarName.objects.count() == 1000  # those of what is hidden


def test_a_file_that_is_larger_than_may_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_stream, "MAX_BYTES", 2 * MIB)
    head = b"version: 1\n"
    assert read_manifest(head + b"#" * (2 * MIB - len(head))).snapshot == base.Snapshot()
    with pytest.raises(ManifestError, match="line 1: the file is larger than 2 MiB"):
        read_manifest(head + b"#" * (2 * MIB - len(head) + 1))


def test_more_entries_than_may_be_are_refused_at_the_first_that_is_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_ENTRIES", 3)
    assert len(read_manifest(b"version: 1\nsecrets:\n- A\n- B\n- C\n").snapshot.secrets) == 3
    assert refused("version: 1\nsecrets:\n- A\n- B\n- C\n- D\n- E\n").problems == [
        "line 6: there are more than 3 entries, this one and those before it"
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("version: 1\nsecrets:\n- A\n- name: B\n  provider: {}\n", 4),
        ("version: 1\nasOf: {}\n", 1),
        ("version: 1\nsecrets:\n- A\nasOf: {}\n", 1),
        ("version: 1\nsecrets:\n- A\n# {}\n- B\n", 3),
        ("version: 1\nprojects:\n- key: p\n  name: P\n  apps:\n  - key: a\n    deployments: {{a: {}}}\n", 6),
    ],
    ids=["a value", "a value of the file", "a value behind a list", "a comment", "what should be a list"],
)
def test_one_thing_of_more_than_five_mib_is_refused_with_its_line(text: str, line: int) -> None:
    assert refused(text.format("x" * (FORMER_LIMIT + 100_000))).problems == [f"line {line}: {TOO_LARGE}"]


def manifest_of_one_application(count: int, *, key_first: bool) -> str:
    names = "".join(f"    - NAME_{number:050}\n" for number in range(count))
    key, lists = "    key: a\n", f"    variables:\n{names}"
    inside = key + lists if key_first else lists + key
    return (
        f"version: 1\nprojects:\n- key: p\n  name: P\n  apps:\n  -\n{inside}    name: A\n    source: {{type: upload}}\n"
    )


@pytest.mark.soak
def test_a_list_of_more_than_five_mib_is_read_where_its_owner_is_known() -> None:
    count = FORMER_LIMIT // 62 + 2000
    read = read_manifest(manifest_of_one_application(count, key_first=True).encode()).snapshot
    assert len(read.variables) == count
    assert {variable.app for variable in read.variables} == {"a"}
    (problem,) = refused(manifest_of_one_application(count, key_first=False)).problems
    assert problem == f"line 7: {TOO_LARGE}"


def test_keys_of_an_entry_may_come_in_any_order() -> None:
    first = read_manifest(manifest_of_one_application(5, key_first=True).encode())
    assert read_manifest(manifest_of_one_application(5, key_first=False).encode()) == first
    found = refused("""\
        secrets: [A, A]
        projects:
        - apps:
          - variables: [B, B]
            name: A
            source: {type: upload}
            key: a
          - {}
          key: p
          nmae: P
        version: 1
    """)
    assert found.problems == [
        "line 1: secrets[1].name: must be unique: an earlier entry is the same",
        "line 3: projects[0].name: must be given",
        "line 4: projects[0].apps[0].variables[1].name: must be unique: an earlier entry is the same",
        "line 8: projects[0].apps[1].key: must be given",
        "line 8: projects[0].apps[1].name: must be given",
        "line 8: projects[0].apps[1].source.type: must be given",
        "line 10: projects[0]: unknown key: did you mean name?",
    ]


def test_problems_on_one_line_are_told_from_the_outer_to_the_inner() -> None:
    text = "{version: 1, asOf: x, projects: [{apps: [{variables: [A, A], key: a, colour: red}], key: p, name: []}]}"
    assert [problem.split(": ")[1] for problem in refused(text).problems] == [
        "projects[0].name",
        "projects[0].apps[0]",
        "asOf",
        "projects[0].apps[0].name",
        "projects[0].apps[0].source.type",
        "projects[0].apps[0].variables[1].name",
    ]


def test_of_many_problems_the_first_are_told_and_all_are_counted(tmp_path: Path) -> None:
    # Every other one is found by the entry itself, and every other one only when all entries are known.
    entry = ("{{name: A{0}, scope: []}}", "NOT A NAME {0}")
    names = "".join(f"- {entry[number % 2].format(number)}\n" for number in range(300))
    found = refused(f"version: 1\nsecrets:\n{names}")
    assert (found.count, len(found.problems)) == (300, MAX_TOLD)
    assert [problem.split(": ")[0] for problem in found.problems[:4]] == ["line 3", "line 4", "line 5", "line 6"]
    file = tmp_path / "many.yaml"
    file.write_text(f"version: 1\nsecrets:\n{names}")
    with pytest.raises(CommandError, match=r"^Nothing was changed: 300 problems \(the first 200 are told\) in "):
        manifest_in(str(file))


@pytest.mark.parametrize("entry", ["{name: A, scope: []}", "NOT A NAME"], ids=["on reading", "on checking"])
def test_looking_for_problems_ends_when_there_are_very_many(
    entry: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(problems, "MAX_FOUND", 300)
    monkeypatch.setattr("apps.platforms.manifest.reader.MAX_FOUND", 300)
    monkeypatch.setattr("apps.platforms.management.files.MAX_FOUND", 300)
    file = tmp_path / "many.yaml"
    file.write_text("version: 1\nsecrets:\n" + f"- {entry}\n" * 1000)
    with pytest.raises(CommandError) as raised:
        manifest_in(str(file))
    first, *told = str(raised.value).splitlines()
    assert first == f"Nothing was changed: 300 problems or more (the first 200 are told) in {file}."
    assert len(told) == 200
    assert told[0].startswith("line 3: secrets[0].")


def test_what_cannot_be_read_twice_is_copied() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb"), open(writing, "wb") as written:
        thread = threading.Thread(target=lambda: (written.write(b"version: 1\nsecrets: [A, A]\n"), written.close()))
        thread.start()
        with pytest.raises(CommandError, match=r"line 2: secrets\[1\].name: must be unique"):
            manifest_in(f"/dev/fd/{reading}")
        thread.join()
