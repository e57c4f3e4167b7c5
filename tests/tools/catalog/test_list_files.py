"""list_files. Reading repositories as such: tests/sources/git/test_repository.py."""

from typing import Any

import pytest

from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import Fill, make_app
from tests.sources.git.origins import Link, Submodule
from tests.tools.catalog.contract import WIDEST, assert_fits, assert_limits, notation

TREE = {
    "README.md": "# Shop\n",
    "Zebra": {"x": ""},
    "apps": {"b.py": "b", "a.py": "aa", "inner": {"deep.txt": "deep"}},
    "a.txt": "é",
    "link": Link("README.md"),
    "vendored": Submodule("1" * 40),
    ".env": "SECRET=1",
}


def names(api: Api, fill: Fill, **inputs: Any) -> list[str]:
    return [item["name"] for item in api("list_files", applicationId=fill.app.id, **inputs)["items"]]


def test_it_answers_what_the_contract_says() -> None:
    tool = TOOLS["list_files"]
    assert notation(tool.item) == "{path,name,type:file|directory|symlink|submodule,size?,sha}"
    assert set(tool.Output().fields) == {
        "items", "nextCursor", "syncedAt", "ref", "commitSha", "committedAt", "fetchedAt", "isStale",
    }  # fmt: skip


def test_directories_come_first_then_names_by_code_points(api: Api, acme: Fill, checkout: Any) -> None:
    commit = checkout.commit(TREE)
    answer = api("list_files", applicationId=acme.app.id)
    assert [(item["name"], item["type"], item["size"]) for item in answer["items"]] == [
        ("Zebra", "directory", None),
        ("apps", "directory", None),
        (".env", "file", 8),
        ("README.md", "file", 7),
        ("a.txt", "file", 2),
        ("link", "symlink", 9),
        ("vendored", "submodule", None),
    ]
    assert (answer["ref"], answer["commitSha"], answer["isStale"]) == ("main", commit, False)
    assert (answer["committedAt"], answer["fetchedAt"][:4] >= "2026") == ("2023-11-14T22:13:20.000Z", True)
    assert all(len(item["sha"]) == 40 for item in answer["items"])


def test_a_folder_is_listed_with_whole_paths(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit(TREE)
    for path in ("apps", "apps/"):
        items = api("list_files", applicationId=acme.app.id, path=path)["items"]
        assert [item["path"] for item in items] == ["apps/inner", "apps/a.py", "apps/b.py"]
    assert names(api, acme, path="apps/inner") == ["deep.txt"]
    assert names(api, acme, path="") == names(api, acme)


def test_a_walk_stays_on_its_commit_while_the_branch_moves(api: Api, acme: Fill, checkout: Any) -> None:
    old = checkout.commit(dict.fromkeys("bdfh", "1"))
    first = api("list_files", applicationId=acme.app.id, limit=2)
    new = checkout.commit(dict.fromkeys("abcdefgh", "2"))
    second = api("list_files", applicationId=acme.app.id, limit=2, cursor=first["nextCursor"])
    assert [item["name"] for item in first["items"] + second["items"]] == ["b", "d", "f", "h"]
    assert (second["ref"], second["commitSha"], second["nextCursor"]) == ("main", old, None)
    assert api("list_files", applicationId=acme.app.id)["commitSha"] == new


def test_a_cursor_belongs_to_its_path_and_its_ref(api: Api, acme: Fill, checkout: Any) -> None:
    commit = checkout.commit(TREE)
    cursor = api("list_files", applicationId=acme.app.id, limit=1)["nextCursor"]
    for other in ({"path": "apps"}, {"ref": "main"}, {"ref": commit}):
        assert api.refused("list_files", applicationId=acme.app.id, cursor=cursor, **other) == [
            ("cursor", "bad_cursor")
        ]


def test_an_earlier_answers_commit_is_a_ref(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit({"old": ""})
    earlier = api("list_files", applicationId=acme.app.id)["commitSha"]
    checkout.commit({"new": ""})
    answer = api("list_files", applicationId=acme.app.id, ref=earlier)
    assert ([item["name"] for item in answer["items"]], answer["ref"], answer["commitSha"]) == (
        ["old"], earlier, earlier,
    )  # fmt: skip
    assert names(api, acme) == ["new"]


def test_branches_and_tags_are_refs(api: Api, acme: Fill, checkout: Any) -> None:
    main = checkout.commit({"main": ""})
    live = checkout.commit({"live": ""}, "release/live")
    checkout.tag("v1", main, annotated=True)
    for ref, name, commit in (("release/live", "live", live), ("v1", "main", main), ("HEAD", "main", main)):
        answer = api("list_files", applicationId=acme.app.id, ref=ref)
        assert ([item["name"] for item in answer["items"]], answer["ref"], answer["commitSha"]) == ([name], ref, commit)


@pytest.mark.parametrize(
    "ref",
    ["nowhere", "0" * 40, "--upload-pack=x", "../main", "main^", "main~1", "a b", "main:apps", "@{-1}", "refs/x/y"],
)
def test_a_ref_that_is_not_there_is_not_found(api: Api, acme: Fill, checkout: Any, ref: str) -> None:
    checkout.commit(TREE)
    assert api.refused("list_files", applicationId=acme.app.id, ref=ref) == [("ref", "ref_not_found")]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("README.md", "not_a_directory"),
        ("link", "not_a_directory"),
        ("vendored", "not_a_directory"),
        ("README.md/x", "path_not_found"),
        ("nowhere", "path_not_found"),
        ("APPS", "path_not_found"),
        ("..", "path_not_found"),
        ("../..", "path_not_found"),
        ("apps/../apps", "path_not_found"),
        ("./apps", "path_not_found"),
        ("/", "path_not_found"),
        ("/etc", "path_not_found"),
        ("apps//inner", "path_not_found"),
        (".git", "path_not_found"),
        (".GIT/refs", "path_not_found"),
        ("apps\\inner", "path_not_found"),
        ("%2e%2e", "path_not_found"),
    ],
)
def test_only_folders_of_the_repository_are_listed(
    api: Api, acme: Fill, checkout: Any, path: str, problem: str
) -> None:
    checkout.commit(TREE)
    assert api.refused("list_files", applicationId=acme.app.id, path=path) == [("path", problem)]


def test_inputs_have_bounds(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit(TREE)
    for inputs, problem in (
        ({"path": "x" * 1025}, ("path", "max_length")),
        ({"path": 7}, ("path", "invalid")),
        ({"ref": ""}, ("ref", "blank")),
        ({"ref": "x" * 256}, ("ref", "max_length")),
        ({"ref": "x" * 255}, ("ref", "ref_not_found")),
    ):
        assert api.refused("list_files", applicationId=acme.app.id, **inputs) == [problem]


def test_the_limit_is_200_and_at_most_1000(api: Api, acme: Fill, checkout: Any) -> None:
    checkout.commit({f"{number:04}": "" for number in range(1001)})
    assert_limits(api, "list_files", default=200, maximum=1000, applicationId=acme.app.id)


@pytest.mark.parametrize("character", WIDEST)
def test_the_longest_names_fit_and_all_are_seen(api: Api, acme: Fill, checkout: Any, character: str) -> None:
    folder = {f"{number:03}".rjust(255, character): "x" for number in range(60)}
    parents = [character * 255] * 3 + [character * 254]
    for name in reversed(parents):
        folder = {name: folder}
    checkout.commit(folder)
    path = "/".join(parents)
    assert len(path) == 1022
    assert_fits(api, "list_files", 60, 1000, applicationId=acme.app.id, path=path)


# Applications without a repository that can be read here


@pytest.mark.parametrize(
    ("source", "repository"),
    [
        ("docker", None),
        ("upload", None),
        ("git", None),
        ("docker", "local:checkout"),
        ("git", "http://git.example.com/x.git"),
        ("git", "git@git.example.com:x.git"),
        ("git", "file:///etc"),
        ("git", "/etc"),
        ("git", "https:///x.git"),
        ("github", None),
    ],
)
def test_without_a_repository_there_are_no_files(
    api: Api, acme: Fill, checkout: Any, source: str, repository: str | None
) -> None:
    app = make_app(acme.project, "x", source_type=source, repository=repository)
    for tool, more in (("list_files", {}), ("get_file", {"path": "README.md"})):
        assert api.refused(tool, applicationId=app.id, **more) == [("applicationId", "no_repository")]


def test_the_servers_own_checkout_is_read_in_local_only(api: Api, acme: Fill, checkout: Any, settings: Any) -> None:
    checkout.commit(TREE)
    settings.PORTHOLE_ENV = "preview"
    assert api.refused("list_files", applicationId=acme.app.id) == [("applicationId", "no_repository")]


def test_without_a_checkout_there_is_none(api: Api, acme: Fill, checkout: Any, settings: Any, tmp_path: Any) -> None:
    settings.BASE_DIR = tmp_path
    assert api.refused("list_files", applicationId=acme.app.id) == [("applicationId", "no_repository")]


def test_a_repository_without_commits_has_no_ref(api: Api, acme: Fill, checkout: Any) -> None:
    assert api.refused("list_files", applicationId=acme.app.id) == [("ref", "ref_not_found")]


def test_another_organizations_application_is_not_found(api: Api, rival: Fill, checkout: Any) -> None:
    checkout.commit(TREE)
    rival.app.source_type, rival.app.repository = "git", "local:checkout"
    rival.app.save()
    assert api.refused("list_files", applicationId=rival.app.id) == [("applicationId", "not_found")]
    assert api.refused("get_file", applicationId=rival.app.id, path="README.md") == [("applicationId", "not_found")]
