"""The documentation tells the truth: its examples run, its links lead somewhere, the search finds its pages."""

import ast
import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command, get_commands
from rest_framework.fields import empty

from apps.platforms.manifest.reader import read_manifest
from apps.sources.docs.chunks import parse
from apps.sources.docs.corpus import Docs
from apps.tools import throttle, views
from apps.tools.base import ListTool
from apps.tools.pages import shown
from apps.tools.registry import TOOLS
from tests.config.server import BASE_DIR, LOCAL, gunicorn, run
from tests.docs_examples import FENCE, REST, Block, Demo, blocks_of, differences, fits, text_of

DOCS = BASE_DIR / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
README = BASE_DIR / "README.md"
NAMES = [str(page.relative_to(BASE_DIR)) for page in [README, *PAGES]]
BLOCKS = [block for name in NAMES for block in blocks_of(name)]
NOTHING = Block("", "", "", "", "")
EXAMPLES = [(block, after) for block, after in pairwise([*BLOCKS, NOTHING]) if block.is_run]


# Examples


@pytest.fixture(scope="session")
def demo(databases: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("demo")
    shutil.copy(databases / "empty.sqlite3", folder / "porthole.sqlite3")
    (folder / "static").mkdir()
    env = LOCAL | {"DATA_DIR": str(folder), "RATE_LIMITS": "off"}
    as_of = read_manifest((BASE_DIR / "apps/platforms/demo/demo.yaml").read_bytes()).as_of
    assert as_of is not None
    days = None
    while days != (days := (datetime.now(UTC).date() - as_of.date()).days):  # once more where midnight came between
        status, said = run("manage.py", "load_demo", "-v0", env=env)
        assert status == 0, said
    with gunicorn(env) as server:
        yield Demo(server.port, days)


@pytest.mark.parametrize(("block", "after"), EXAMPLES, ids=[block.place for block, _ in EXAMPLES])
def test_an_example_answers_what_is_shown(block: Block, after: Block, demo: Demo) -> None:
    check_answer(block, after, demo.run(block), demo)


def check_answer(block: Block, after: Block, said: str, demo: Demo) -> None:
    """Against what is shown directly behind the block."""
    if after.gap or after is NOTHING:
        assert said
        assert '"requestId"' not in said  # as errors have it
    elif after.language == "json":
        assert differences(json.loads(after.text), json.loads(said), demo) == []
    elif after.language == "text":
        assert fits(after.text, said) or fits(demo.moved(after.text), said), said


@pytest.mark.parametrize(
    ("expected", "actual", "is_same"),
    [
        ({"a": 1}, {"a": 1}, True), ({"a": 1}, {"a": 2}, False), ({"a": 1}, {"a": True}, False), ({"a": 1}, {}, False),
        ({}, {"a": 1}, False), ({REST: REST}, {"a": 1}, True), ([1, 2], [1, 2], True), ([1], [1, 2], False),
        ([1, REST], [1, 2, 3], True), ([1, REST], [2], False), ([1, 2], [1], False), (REST, None, True),
        ("ab…", "abc", True), ("ab…", "b", False), ("ab…", None, False), ([], {}, False), ({}, [], False),
        ({"requestId": "x"}, {"requestId": "y"}, True), ("at 2026-01-31T12:00:00Z", "at 2026-02-02T12:00:00Z", True),
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z", True), ("2026-01-31T12:00:00Z", "2026-02-03T12:00:00Z", False),
    ],
)  # fmt: skip
def test_only_the_ellipsis_and_moved_times_may_differ(expected: Any, actual: Any, is_same: bool) -> None:
    assert (differences(expected, actual, Demo(port=0, days=2)) == []) is is_same


def test_there_are_examples_and_those_that_do_not_run_say_why() -> None:
    assert len(EXAMPLES) > 30
    assert README.name in {block.place.partition(":")[0] for block, _ in EXAMPLES}
    for block in BLOCKS:
        assert block.info == "" or re.match(r"notest \w+ \w+", block.info), block.place
        if block.language == "python":
            compile(block.text, block.place, "exec")
        if block.language == "yaml":
            yaml.safe_load(block.text)


# What has to be there


def test_what_is_said_of_tools_is_what_the_tools_say() -> None:
    call_command("docs", check=True)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tools_example_is_run(name: str) -> None:
    block, after = next(pair for pair in EXAMPLES if pair[0].place.startswith(f"docs/tools/{name}.md:"))
    assert f"/tools/{name} " in block.text
    assert json.loads(after.text) == shown(TOOLS[name].example)
    assert (after.language, after.gap) == ("json", "")


@pytest.mark.parametrize("name", TOOLS)
def test_an_input_with_a_default_says_so(name: str) -> None:
    tool = TOOLS[name]
    for field in tool.input.fields.values():
        default = field.default
        if default is not empty and isinstance(default, int):
            assert f"{default} if left out" in str(field.help_text), field.field_name
    if isinstance(tool, ListTool):
        assert f"{tool.default_limit} if left out" in str(tool.input.fields["limit"].help_text)


def test_every_setting_is_described_and_every_described_one_is_read() -> None:
    read = set()
    for file in ("config/settings.py", "config/gunicorn.conf.py", "config/env.py"):
        read |= set(re.findall(r'\b(?:env|self)\.\w+\(\s*"([A-Z0-9_]+)"', text_of(file)))
    assert len(read) > 15
    settings = text_of("docs/running.md").split("## Settings")[1].split("\n## ")[0]
    assert sorted(re.findall(r"^\| `([A-Z0-9_]+)` \|", settings, re.MULTILINE)) == sorted(read)


# What validators say that no caller can bring about: the body is read before, and refuses more.
NEVER = {
    "max_string_length",
    "null_characters_not_allowed",
    "surrogate_characters_not_allowed",
    "datatype",
    "html_field",
}
ARGUMENTS = {"Refused": 1, "because": 2, "path_problem": 1, "Problem": 2}  # where a call has its code or type


def answered() -> tuple[set[str], set[str]]:
    """Every code and every type of a 422 that the code names."""
    found: dict[str, set[str]] = {name: set() for name in ARGUMENTS}
    folders = ("apps/web", "apps/sources", "apps/tools", "apps/oauthmcp")
    for file in (file for folder in folders for file in (BASE_DIR / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if name in ARGUMENTS and len(node.args) > ARGUMENTS[name]:
                argument = node.args[ARGUMENTS[name]]
                found[name] |= {argument.value} if isinstance(argument, ast.Constant) else set()
    inputs = [field for tool in TOOLS.values() for field in [tool.input, *tool.input.fields.values()]]
    own = {code for field in inputs for code in field.error_messages}
    own |= {validator.code for field in inputs for validator in field.validators if hasattr(validator, "code")}
    return found.pop("Refused"), set().union(own - NEVER, *found.values())


def test_every_error_code_and_every_type_of_a_422_is_described() -> None:
    codes, types = answered()
    text = text_of("docs/errors.md")
    rows = text.split("## Codes")[1].split("\n## ")[0]
    assert sorted(set(re.findall(r"^\| \d+ `(\w+)`", rows, re.MULTILINE))) == sorted(codes)
    rows = text.split("## Types of a 422")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", rows, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(cells))) == sorted(types)


def test_what_the_docs_quote_of_the_code_is_so() -> None:
    assert f"\n{views.DOCS_POLICY}\n" in text_of("docs/security.md")
    assert f"{throttle.BURST} calls at once, and {throttle.PER_SECOND:.0f} a second" in text_of(
        "docs/errors.md"
    ).replace("\n", " ")


@pytest.mark.parametrize("name", NAMES)
def test_commands_that_are_named_exist(name: str) -> None:
    targets = re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE)
    text = text_of(name)
    code = "\n".join([*re.findall(r"`([^`\n]+)`", text), *(block.text for block in blocks_of(name))])
    assert [word for word in re.findall(r"\bmake ([a-z-]+)\b", code) if word not in targets] == []
    assert [word for word in re.findall(r"manage\.py ([a-z]\w+)", code) if word not in get_commands()] == []


# Links and search


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def anchors(page: Path) -> set[str]:
    return {section.anchor for section in parse(page.name, page.read_text(encoding="utf-8")).sections if section.anchor}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_pages_and_headings_that_are_there(name: str) -> None:
    page = BASE_DIR / name
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(name))):
        if target.startswith(("https://", "http://")):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.is_file(), f"{name}: {target}"
        assert not anchor or anchor in anchors(linked), f"{name}: {target}"


def test_every_page_has_a_title_of_its_own_and_is_linked() -> None:
    titles = [page.read_text(encoding="utf-8").partition("\n")[0] for page in PAGES]
    assert all(title.startswith("# ") for title in titles)
    assert len(set(titles)) == len(titles)
    links = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in [README, *PAGES]
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text(encoding="utf-8")))
    }
    assert [page for page in PAGES if page not in links] == []


QUESTIONS = [
    ("how do I page through results", "paging.md"),
    ("what does 422 mean", "errors.md"),
    ("is my database password stored", "security.md"),
    ("rate limit", "errors.md"),
    ("run behind nginx", "running.md"),
    ("how do I get started", "quickstart.md"),
    ("which token do I need", "authentication.md"),
    ("find the url of a pull request preview", "tools/list_previews.md"),
    ("why is my app down", "tools/get_app_health.md"),
    ("github actions", "ci-and-scripts.md"),
    ("back up the database", "running.md"),
    ("add a new tool", "contributing.md"),
    ("describe my organization in a yaml file", "manifest.md"),
    ("connect coolify", "coolify.md"),
    ("connect github", "git-hosts.md"),
    ("bad_cursor", "paging.md"),
    ("when does the certificate expire", "tools/list_domains.md"),
    ("read a file from the repository", "tools/get_file.md"),
    ("CORS", "authentication.md"),
    ("uptime", "tools/get_app_health.md"),
    ("how is health judged", "health.md"),
    ("PROBE_NETWORKS", "health.md"),
    ("hairpin NAT", "health.md"),
    ("disconnect dokploy", "dokploy.md"),
    ("make an operator", "running.md"),
    ("I forgot my password", "signing-in.md"),
    ("invite somebody by e-mail", "signing-in.md"),
    ("where are my recovery codes", "signing-in.md"),
    ("TRUSTED_PROXIES", "running.md"),
    ("let an app into my organization", "connecting.md"),
    ("what does consent mean", "connecting.md"),
    ("dynamic client registration", "oauth.md"),
    ("refresh token", "oauth.md"),
    ("disconnect an app", "signing-in.md"),
    ("connect claude code", "mcp.md"),
    ("mcp endpoint", "mcp.md"),
    ("cursor mcp.json", "mcp.md"),
    ("connect chatgpt", "mcp.md"),
]


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Docs:
    return Docs((DOCS,), tmp_path_factory.mktemp("index"))


@pytest.mark.parametrize(("question", "page"), QUESTIONS)
def test_the_search_finds_the_right_page_first(docs: Docs, question: str, page: str) -> None:
    assert [hit.path for hit in docs.search(question, 3)][:1] == [page]
