"""Reading a manifest: text becomes a snapshot, or every problem is told by line and place."""

import textwrap
from datetime import UTC, datetime

import pytest

from apps.platforms.manifest.problems import ManifestError
from apps.platforms.manifest.reader import read_manifest
from apps.platforms.snapshot import base

MARKER = "hunter2"


def read(text: str) -> base.Snapshot:
    return read_manifest(textwrap.dedent(text).encode()).snapshot


def problems(text: str) -> list[str]:
    with pytest.raises(ManifestError) as raised:
        read(text)
    return raised.value.problems


def one_app(more: str) -> str:
    """A manifest with one application; `more` are further lines of it, the first of which is line 7."""
    head = "version: 1\nprojects:\n- key: p\n  name: P\n  apps:\n  - {key: a, name: A, source: {type: upload}"
    return f"{head},\n{more}\n  }}\n"


def test_scalars_are_text_until_a_field_says_otherwise() -> None:
    snapshot = read("""
        version: 1
        projects:
          - key: 0777
            name: no
            description: 2026-01-01
            environments:
              - {key: 1e3, name: 8080, isDefault: true}
            apps:
              - key: null-ish
                name: "null"
                slug: ~
                description:
                source: {type: docker, image: "x:1"}
                createdAt: 2026-01-01T01:00:00.123456+01:00
                health: {uptime24h: 0.5}
    """)
    assert (snapshot.projects[0].key, snapshot.projects[0].name) == ("0777", "no")
    assert snapshot.projects[0].description == "2026-01-01"
    assert (snapshot.environments[0].key, snapshot.environments[0].name) == ("1e3", "8080")
    assert snapshot.environments[0].is_default is True
    app = snapshot.apps[0]
    assert (app.name, app.slug, app.description, app.kind) == ("null", None, None, "application")
    assert app.created_at is not None
    assert app.created_at.isoformat() == "2026-01-01T00:00:00.123000+00:00"
    assert snapshot.edge_statistics[0].uptime_24h == 0.5


def test_names_may_stand_alone() -> None:
    snapshot = read("""
        version: 1
        secrets: [A, {name: B, scope: vault}]
        projects:
          - {key: p, name: P, variables: [C], environments: [{key: e, name: E, variables: [D]}]}
    """)
    assert [(s.name, s.scope) for s in snapshot.secrets] == [("A", "organization"), ("B", "vault")]
    assert [(v.name, v.scope, v.project, v.environment) for v in snapshot.variables] == [
        ("C", "project", "p", None),
        ("D", "environment", None, "e"),
    ]


def test_every_problem_is_told_at_once_with_line_and_place() -> None:
    assert problems("""\
        version: 2
        projects:
          - key: p
            name: ""
            colour: red
            apps:
              - key: a
                name: A
                status: running
                source: {type: github, connection: nowhere}
                domains:
                  - {key: d, host: UPPER, port: 99999}
              - key: a
                nmae: B
                source: upload
        connections: {}
    """) == [
        "line 1: version: must be 1",
        "line 4: projects[0].name: must be text of 1 to 200 characters",
        "line 5: projects[0]: unknown key: the keys here are key, name, description, createdAt, environments, "
        "variables, apps",
        "line 9: projects[0].apps[0].status: must be one of idle, deploying, deployed, error, unknown",
        "line 10: projects[0].apps[0].source.connection: there is no connection with this key",
        "line 12: projects[0].apps[0].domains[0].host: must be a host name in lower case, such as shop.example.com "
        "(at most 253 characters)",
        "line 12: projects[0].apps[0].domains[0].port: must be a whole number from 1 to 65535",
        "line 13: projects[0].apps[1].name: must be given",
        "line 13: projects[0].apps[1].source.type: must be given",
        "line 13: projects[0].apps[1].key: must be unique: an earlier entry is the same",
        "line 14: projects[0].apps[1]: unknown key: did you mean name?",
        "line 15: projects[0].apps[1].source: must hold keys: type, repository, branch, image, connection",
        "line 16: connections: must be a list",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &x 1\nb: *x", "line 1: anchors and aliases are not allowed"),
        ("version: 1\nsecrets: [*x]", "line 2: anchors and aliases are not allowed"),
        ("version: !!int 1", "line 1: tags are not allowed"),
        ("version: 1\n---\nversion: 1", "line 2: a second document starts here: a file holds one"),
        ("version: 1\nversion: 1", "line 2: the same key is there twice"),
        ("? [a, b]\n: c", "line 1: a key must be plain text"),
        ("version: 1\nsecrets: [", "cannot be read as YAML here, or just before"),
        ("version: 1\nnote: \x07", "line 2: holds a character that YAML refuses"),
        ("[" * 5000, "nested too deeply"),
        ("version: 1\n" + " " * 4 + "- " * 3000, ""),
    ],
)
def test_yaml_that_is_not_ours_is_refused(text: str, problem: str) -> None:
    found = problems(text)
    assert len(found) == 1
    assert problem in found[0]


def test_a_file_that_is_no_text_is_refused_with_the_line_wherever_it_is() -> None:
    with pytest.raises(ManifestError, match="line 2: is not UTF-8 text"):
        read_manifest(b"version: 1\nnote: \xff")
    long = b"# \xc3\xa9 x\n" * 300_000  # more than is looked at in one piece, and pieces end inside characters
    with pytest.raises(ManifestError, match="line 300001: is not UTF-8 text"):
        read_manifest(long + b"\xc3")
    with pytest.raises(ManifestError, match="line 3: holds a character that YAML refuses"):
        read_manifest("version: 1\n# ääääääää\n# \x07\n#\n#\n".encode())


@pytest.mark.parametrize("text", ["", "just text", "- a", "null"])
def test_a_file_that_is_no_mapping_is_refused(text: str) -> None:
    assert "must start with `version: 1`" in problems(text)[0]


@pytest.mark.parametrize(
    "line",
    [
        f"variables: [DATABASE_URL={MARKER}]",
        f"variables: [DATABASE_URL: {MARKER}]",
        f"variables: [{{name: A, value: {MARKER}}}]",
        f"variables: {{DATABASE_URL: {MARKER}}}",
        f"variables: {MARKER}",
        f"variables: ['postgres://me:{MARKER}@db/x']",
        f"variables: [{{'{MARKER}!': x}}]",
        f"variables: [{{name: A, references: ['{MARKER}=']}}]",
        f"variables: [{{name: A, references: {MARKER}}}]",
        f"variables: [{{name: [{MARKER}]}}]",
        f"variables: [{{name: A, updatedAt: {MARKER}}}]",
        f"variables: [{{name: A, scope: {MARKER}}}]",
        f"{MARKER}: x",
        f"description: 'see https://me:{MARKER}@example.com/'",
        f"status: {MARKER}",
        f"namesSkipped: {MARKER}",
        f"createdAt: {MARKER}",
        f"environment: {MARKER}",
        f"domains: [{{key: d, host: 'me:{MARKER}@example.com'}}]",
        f"previews: [{{key: v, branch: x, url: 'https://me:{MARKER}@example.com/'}}]",
        f"health: {{uptime24h: {MARKER}}}",
        f"runtime: {{instances: [{MARKER}]}}",
        f"runtime: {{instances: [{{state: x, since: {MARKER}}}]}}",
        f"health: {MARKER}",
    ],
)
def test_what_the_file_says_is_never_repeated(line: str) -> None:
    found = problems(one_app(line))
    assert found[0].startswith("line 7: projects[0].apps[0]")
    assert MARKER not in "\n".join(found)


def test_repositories_with_a_user_are_refused() -> None:
    text = f"""
        version: 1
        projects:
          - key: p
            name: P
            apps:
              - {{key: a, name: A, source: {{type: git, repository: "https://me:{MARKER}@git.example.com/x.git"}}}}
    """
    assert problems(text) == [
        "line 7: projects[0].apps[0].source.repository: must not hold an address with a user name or a password",
        "line 7: projects[0].apps[0].source.repository: must be an https:// address without a user name",
    ]


@pytest.mark.parametrize(
    "time", ["2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z", "now", "0001-01-01T00:00:00Z"]
)
def test_times_need_an_offset(time: str) -> None:
    assert "must be a time" in problems(one_app(f"createdAt: '{time}'"))[0]


@pytest.mark.parametrize("number", ["07", "0x7", "1_000", "1.0", "-1", "٧", "9" * 30])
def test_whole_numbers_are_decimal(number: str) -> None:
    assert "must be a whole number" in problems(one_app(f"namesSkipped: '{number}'"))[0]


def test_lists_inside_an_entry_are_checked_item_by_item() -> None:
    found = problems("version: 1\ntemplates:\n- key: t\n  name: T\n  description: D\n  tags:\n  - ok\n  - Not ok\n")
    assert found == ["line 8: templates[0].tags[1]: must be a tag of lower-case letters, digits and hyphens"]
    found = problems(one_app("runtime: {instances: [{since: 2026-01-01T00:00:00Z}, {state: x, massage: y}]}"))
    assert found == ["line 7: projects[0].apps[0].runtime.instances[1]: unknown key: did you mean message?"]


AS_OF = "version: 1\nasOf: 2026-03-01T12:00:00Z\n"


def test_a_file_says_of_when_its_facts_are_and_how_long_they_last() -> None:
    manifest = read_manifest(f"{AS_OF}staleAfter: 60\n".encode())
    assert (manifest.as_of, manifest.stale_after) == (datetime(2026, 3, 1, 12, tzinfo=UTC), 60)
    assert read_manifest(AS_OF.encode()).stale_after is None


@pytest.mark.parametrize(
    "said", [f"{AS_OF}staleAfter: 0\n", f"{AS_OF}staleAfter: 1 day\n", "version: 1\nstaleAfter: 9\n"]
)
def test_how_long_they_last_is_a_number_and_needs_a_date(said: str) -> None:
    with pytest.raises(ManifestError) as error:
        read_manifest(said.encode())
    assert ["staleAfter" in problem for problem in error.value.problems] == [True]
