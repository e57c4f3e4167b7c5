"""What every snapshot must be, whichever source it comes from."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import problems_of
from apps.platforms.snapshot.values import looks_like_a_value
from tests.platforms.snapshots import NOON, app, deployment, project, rich

MARKER = "hunter2Marker"


def said(**collections: Any) -> list[str]:
    """What is wrong when these collections take the place of those in the rich snapshot."""
    return [str(problem) for problem in problems_of(replace(rich(), **collections))]


def test_the_rich_snapshot_is_fine() -> None:
    assert said() == []


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("key", "", "must be text of 1 to 128 characters"),
        ("key", "x" * 129, "must be text of 1 to 128 characters"),
        ("key", "a\nb", "must not hold control characters or line breaks"),
        ("key", None, "must be given"),
        ("name", "x" * 201, "must be text of 1 to 200 characters"),
        ("name", "   ", "must not be blank"),
        ("name", "\ud800\u202e\U000e0041", "must not be blank"),
        ("name", 7, "must be text of 1 to 200 characters"),
        ("slug", "shop\u202e", "must not hold characters that are not seen"),
        ("branch", "ma\u200bin", "must not hold characters that are not seen"),
        ("description", "psql postgres://me:pw@db/x", "must not hold an address with a user name or a password"),
        ("status", "running", "must be one of idle, deploying, deployed, error, unknown"),
        ("status", None, "must be given"),
        ("names_skipped", -1, "must be a whole number from 0 to 2147483647"),
        ("names_skipped", 2**31, "must be a whole number from 0 to 2147483647"),
        ("names_skipped", True, "must be a whole number from 0 to 2147483647"),
        ("created_at", datetime(2026, 1, 1), "must be a time with an offset"),
        ("created_at", NOON.replace(year=1969), "must be a time from the years 1970 to 2999"),
        ("project", "nowhere", "there is no project with this key"),
        ("environment", "0777", "is an environment of another project"),
        ("image", "a:1", "belongs to a source of type docker only"),
        ("repository", "one-part", "must be owner/repository"),
        ("repository", "../x", "must be owner/repository"),
        ("repository", "-x/y", "must be owner/repository"),
    ],
)
def test_a_field_out_of_bounds_is_told(field: str, value: Any, sentence: str) -> None:
    broken = replace(rich().apps[0], **{field: value})
    problems = said(apps=(broken, rich().apps[1]))
    assert f"apps[0].{field}: {sentence}" in problems
    assert all(not isinstance(value, str) or len(value) < 4 or value not in problem for problem in problems)


@pytest.mark.parametrize(
    "repository",
    [
        "http://git.example.com/x.git",
        "ssh://git.example.com/x.git",
        "git@git.example.com:x.git",
        "file:///etc",
        "/etc",
        "local:other",
        "https://git.example.com/x.git?private_token=x",
        "https://me@git.example.com/x.git",
    ],
)
def test_a_git_source_is_an_https_address_or_the_local_checkout(repository: str) -> None:
    def problems(text: str) -> list[str]:
        return said(apps=(app(source_type="git", repository=text), rich().apps[1]))

    assert problems(repository)
    assert not problems("https://git.example.com/x.git")
    assert not problems("local:checkout")


@pytest.mark.parametrize(
    "url",
    [
        "https://me:pw@example.com/",
        "https://me@example.com/",
        "javascript:alert(1)",
        "ftp://example.com/",
        "https://",
        "https://a b.example.com/",
        "https://example.com:99999/",
        "https://good.example.com\\@evil.example.com/",
        "https://[::1/",
        f"https://example.com/{'x' * 2000}",
    ],
)
def test_urls_are_web_addresses_without_a_user(url: str) -> None:
    assert said(previews=(base.Preview(key="pv", app="web", branch="x", url=url),))


@pytest.mark.parametrize(
    "host", ["UPPER.example.com", "a..b", "-a.example.com", "a b", "a/b", "me@host", "ä.example", ""]
)
def test_hosts_are_plain_lower_case_names(host: str) -> None:
    domain = base.Domain(key="d1", app="web", host=host)
    assert "domains[0].host" in said(domains=(domain,), edges=())[0]


@pytest.mark.parametrize("path", ["x", "/a b", "/a?b", "/a#b", ""])
def test_paths_start_with_a_slash(path: str) -> None:
    assert said(domains=(base.Domain(key="d1", app="web", host="a.example", path=path),), edges=())


def test_keys_are_unique_in_their_collection_only() -> None:
    assert said(apps=(*rich().apps, rich().apps[0])) == ["apps[2].key: must be unique: an earlier entry is the same"]
    assert said(projects=(*rich().projects, project("web"))) == []


def test_a_name_is_told_once_per_place_and_scope() -> None:
    twice = (base.Variable(name="A", app="web"), base.Variable(name="A", app="web"))
    assert said(variables=twice) == ["variables[1].name: must be unique: an earlier entry is the same"]
    assert said(secrets=(base.Secret(name="A"), base.Secret(name="A"))) != []
    assert said(edges=(rich().edges[0], rich().edges[0])) != []
    assert said(edge_statistics=rich().edge_statistics[:1] * 2) != []
    assert said(runtimes=rich().runtimes[:1] * 2) != []


@pytest.mark.parametrize(
    "variable",
    [
        base.Variable(name="A"),
        base.Variable(name="A", app="web", project="p"),
        base.Variable(name="A", app="web", scope="project"),
        base.Variable(name="A", project="p"),
        base.Variable(name="A", app="elsewhere"),
    ],
)
def test_a_variable_is_set_in_one_place_that_fits_its_scope(variable: base.Variable) -> None:
    assert said(variables=(variable,))


@pytest.mark.parametrize(
    "secret",
    [
        base.Secret(name="A", project="p"),
        base.Secret(name="A", scope="project"),
        base.Secret(name="A", scope="environment", project="p"),
        base.Secret(name="A", scope="environment", project="q", environment="prod"),
    ],
)
def test_a_secret_is_kept_where_its_scope_says(secret: base.Secret) -> None:
    assert said(secrets=(secret,))


def test_a_preview_belongs_to_the_application_that_speaks_of_it() -> None:
    sentence = "is a preview of another application"
    assert said(deployments=(deployment(app="compose", preview="pv"),)) == [f"deployments[0].preview: {sentence}"]
    domain = base.Domain(key="d1", app="compose", preview="pv", host="a.example")
    assert said(domains=(domain,), edges=()) == [f"domains[0].preview: {sentence}"]


def test_counts_have_limits() -> None:
    environments = tuple(base.Environment(key=f"e{n}", project="p", name="E") for n in range(51))
    apps = (replace(rich().apps[0], environment=None), rich().apps[1])
    assert "projects[0].key: has more than 50 environments" in said(
        environments=environments, apps=apps, variables=(), secrets=()
    )
    tags = tuple(f"t{n}" for n in range(21))
    assert said(templates=(base.Template(key="t", name="T", description="D", tags=tags),))
    assert said(variables=(base.Variable(name="A", app="web", references=tuple(f"R{n}" for n in range(21))),))
    assert said(runtimes=(base.Runtime(app="web", instances=(base.Instance(state="x"),) * 21),))


def test_facts_and_tags_have_bounds_too() -> None:
    assert said(edge_statistics=(base.EdgeStatistics(app="web", uptime_24h=1.01),))
    assert said(edge_statistics=(base.EdgeStatistics(app="web", uptime_24h=float("nan")),))
    instances = (base.Instance(state="x"), base.Instance(state="x", message="m" * 301))
    assert "runtimes[0].instances[1].message: must be text of 1 to 300 characters" in said(
        runtimes=(base.Runtime(app="web", instances=instances),)
    )
    for tag in ("Upper", "a,b", "-a", "x" * 33):
        assert said(templates=(base.Template(key="t", name="T", description="D", tags=(tag,)),)), tag
    assert said(deployments=(deployment(started_at=NOON, finished_at=NOON + timedelta(days=25)),))


@pytest.mark.parametrize(
    "value",
    [
        f"DATABASE_URL={MARKER}",
        f"DATABASE_URL: {MARKER}",
        f"postgres://me:{MARKER}@db",
        f"{MARKER}\n",
        f"{MARKER} ",
        f"1{MARKER}",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
        "deadbeefdeadbeef0123456789abcdef",
        "DEADBEEF0123456789ABCDEF01234567",
        "a81bc81b-dead-4e5d-abff-90865d1e13b1",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
    ],
)
def test_a_value_where_a_name_belongs_is_refused_without_being_repeated(value: str) -> None:
    for problems in (
        said(variables=(base.Variable(name=value, app="web"),)),
        said(variables=(base.Variable(name="A", app="web", references=(value,)),)),
        said(secrets=(base.Secret(name=value),)),
    ):
        assert problems
        assert not any(value.strip() in problem or MARKER in problem for problem in problems)


@pytest.mark.parametrize(
    "name",
    [
        "DATABASE_URL",
        "NEXT_PUBLIC_VERCEL_GIT_COMMIT_SHA_256",
        "spring.datasource.hikari.maximumPoolSize",
        "_",
        "npm_config_registry",
        "S3_BUCKET_1",
        "someCamelCaseName",
        "project.DATABASE_URL",
        "kebab-case-name-that-is-rather-long",
    ],
)
def test_names_that_people_choose_are_no_values(name: str) -> None:
    assert not looks_like_a_value(name)
    assert said(variables=(base.Variable(name=name, app="web"),)) == []
