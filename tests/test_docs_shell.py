"""Command lines in the documentation work as written: in an empty shell, on Debian and on macOS."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.server import BASE_DIR, PRODUCTION
from tests.docs_examples import Block, Demo, blocks_of
from tests.docs_shell import SHELL, commands_of, problems_of
from tests.patience import patience
from tests.test_docs import EXAMPLES, NAMES, check_answer, demo

__all__ = ["demo"]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_no_command_that_only_some_can_run(name: str) -> None:
    assert list(problems_of(blocks_of(name))) == []


@pytest.mark.parametrize(
    ("command", "is_right"),
    [
        ("sed -i s/a/b/ file", False), ("sed s/a/b/ file > other", True), ("date -d now", False), ("date -u", True),
        ("base64 -w0 key", False), ("openssl base64 -A", True), ("grep -oP x file", False), ("grep -iE x file", True),
        ("python manage.py migrate", False), (".venv/bin/python manage.py check", True), ("python3 -m venv x", True),
        ("pip install x", False), (".venv/bin/pip install x", True), ("xdg-open x", False), ("open x", False),
        ("timeout 5 make run", False), ("x=1  # a comment", False), ("curl http://localhost/?a=1", False),
        ("curl 'http://localhost/?a=1'", True), ("echo $OTHER", False), ("TOKEN=x; echo $TOKEN", True),
        ('echo "$HOME" | wc -c', False), ("echo '$TOKEN'", True), ("status=1", False), ('echo "so!what"', False),
        ("for app in a b; do echo $app; done", True), ("[[ -f x ]]", False),
        ("docker run --rm x", True), ("cp --archive a b", False),
    ],
)  # fmt: skip
def test_a_command_that_only_some_can_run_is_noticed(command: str, is_right: bool) -> None:
    for block in (Block("", "sh", "", f"{command}\n", ""), Block("", "console", "", f"$ {command}\nsays this #\n", "")):
        assert (list(problems_of([block])) == []) is is_right


# In other shells than the one in which tests/test_docs.py runs every example

IN_SHELLS = [(block, after) for block, after in EXAMPLES if block.language == "sh"]
SHELLS = [name for name in ("dash", "zsh") if shutil.which(name)]


@pytest.mark.soak
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("block", "after"), IN_SHELLS, ids=[block.place for block, _ in IN_SHELLS])
def test_an_example_answers_the_same_in_every_shell(block: Block, after: Block, shell: str, demo: Demo) -> None:
    check_answer(block, after, demo.run(block, shell), demo)


# Those that operators type

# What needs a platform, a terminal or a browser, goes on for good, or is tested elsewhere with all that it needs.
LEFT_OUT = ("connect_", "disconnect_platform", "worker", "setup", "backup", "restore", "runserver", "docs ", "openapi ")
BEFORE = (
    "migrate -v0", 'create_organization acme --name "Acme"', "create_operator ada@example.com",
    "add_member acme ada@example.com", "sync_manifest acme acme.yaml",
)  # fmt: skip
EXPECTED = {"create_organization": "There is already an organization", "create_operator": "There is already a user",
            "remove_second_factor": "has no second factor"}  # fmt: skip


def operators_commands() -> Iterator[tuple[str, str]]:
    for block in (block for name in NAMES for block in blocks_of(name) if block.language in SHELL):
        for line in commands_of(block).replace("\\\n", " ").splitlines():
            _, manage, command = line.partition(".venv/bin/python manage.py ")
            if manage and not command.startswith(LEFT_OUT):
                yield f"{block.place} {command}", line


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like one's own clone, with a manifest in it, of which nothing is written anywhere else."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("apps", "config", "docs", "templates", "manage.py", "README.md", ".venv"):
        (folder / name).symlink_to(BASE_DIR / name)
    (folder / "acme.yaml").write_text("version: 1\nprojects: [{key: p, name: Project}]\n")
    (folder / "templates.yaml").write_text("version: 1\ntemplates: [{key: t, name: T, description: D}]\n")
    for command in BEFORE:
        status, said = typed(folder, f".venv/bin/python manage.py {command}", "sh")
        assert status == 0, said
    return folder


def typed(folder: Path, line: str, shell: str) -> tuple[int, str]:
    """In an environment with nothing but settings, and with a password on standard input."""
    env = PRODUCTION | {"PATH": "/usr/bin:/bin", "HOME": str(folder), "DATA_DIR": str(folder / "var")}
    done = subprocess.run(
        [shell, "-c", line], cwd=folder, env=env, input="correct horse battery\n", capture_output=True, text=True,
        timeout=patience(), check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_there_are_commands_for_operators() -> None:
    names = {line.split("manage.py ")[1].split()[0] for _, line in operators_commands()}
    assert names >= {"create_operator", "add_member", "sync_manifest", "export_manifest", "rotate_keys"}


@pytest.mark.soak
@pytest.mark.parametrize("line", [pytest.param(line, id=name) for name, line in operators_commands()])
def test_what_an_operator_types_works_as_written(line: str, checkout: Path) -> None:
    status, said = typed(checkout, line, "dash" if shutil.which("dash") else "sh")
    assert "Traceback" not in said
    expected = next((words for name, words in EXPECTED.items() if f" {name} " in line), None)
    assert status == 0 or (expected and expected in said), said
