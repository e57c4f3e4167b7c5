"""Keys that nobody needs to choose: made once, whole, for their own user alone, and found by the settings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from config.env import BASE_DIR, Env
from config.keys import generate

NAMES = ("SECRET_KEY", "ENCRYPTION_KEYS")


def env_of(tmp_path: Path, **values: str) -> Env:
    return Env({"DATA_DIR": str(tmp_path / "data"), **values})


def test_keys_are_made_for_their_user_alone_and_found_by_the_settings(tmp_path: Path) -> None:
    env = env_of(tmp_path)
    before = os.umask(0)
    try:
        said = list(generate(env))
    finally:
        os.umask(before)
    folder = tmp_path / "data" / "keys"
    assert said == [f"Made {name} in {folder / name}." for name in NAMES]
    assert {(file.name, file.stat().st_mode & 0o777) for file in folder.iterdir()} == {
        ("SECRET_KEY", 0o600), ("ENCRYPTION_KEYS", 0o600),
    }  # fmt: skip
    assert [path.stat().st_mode & 0o777 for path in (folder.parent, folder)] == [0o700, 0o700]
    assert len(env.text("SECRET_KEY")) >= 50
    assert Fernet(env.fernet_keys("ENCRYPTION_KEYS")[0])


def test_a_second_run_changes_no_key(tmp_path: Path) -> None:
    env = env_of(tmp_path, KEYS_DIR=str(tmp_path / "keys"))
    list(generate(env))
    before = [env.text(name) for name in NAMES]
    assert list(generate(env)) == [f"{name} is in {tmp_path / 'keys' / name}." for name in NAMES]
    assert [env.text(name) for name in NAMES] == before


def test_a_key_of_the_environment_goes_first_and_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("k" * 50)
    env = env_of(tmp_path, SECRET_KEY_FILE=str(tmp_path / "mine"))
    assert next(generate(env)) == "SECRET_KEY is set in the environment."
    list(generate(env_of(tmp_path)))
    assert env.text("SECRET_KEY") == "k" * 50
    assert env_of(tmp_path).text("SECRET_KEY") != "k" * 50


def test_many_at_once_agree_on_one_key(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "config.keys"]
    values = os.environ | {"DATA_DIR": str(tmp_path), "KEYS_DIR": str(tmp_path / "keys")}
    started = [subprocess.Popen(command, cwd=BASE_DIR, env=values, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0]
    assert sum(lines.count("Made SECRET_KEY") for lines in said) == 1
    assert sorted(os.listdir(tmp_path / "keys")) == ["ENCRYPTION_KEYS", "SECRET_KEY"]


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    env = env_of(tmp_path)
    list(generate(env))
    (env.keys_dir() / "SECRET_KEY").chmod(0o604)
    with pytest.raises(ImproperlyConfigured, match=r"Every user of this machine may use .*SECRET_KEY: chmod 600 it"):
        env.text("SECRET_KEY")


def test_a_group_may_read_a_key_as_kubernetes_mounts_it(tmp_path: Path) -> None:
    env = env_of(tmp_path)
    list(generate(env))
    (env.keys_dir() / "SECRET_KEY").chmod(0o440)
    assert env.text("SECRET_KEY")


def test_no_key_is_made_in_a_folder_that_everybody_may_write_to(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys").chmod(0o1777)
    with pytest.raises(ImproperlyConfigured, match=r"Everybody may write to"):
        list(generate(env_of(tmp_path, KEYS_DIR=str(tmp_path / "keys"))))
    assert not list((tmp_path / "keys").iterdir())


def test_an_empty_file_is_no_key_and_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir(mode=0o700)
    (tmp_path / "keys" / "SECRET_KEY").touch(mode=0o600)
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY is empty: delete it"):
        list(generate(env_of(tmp_path, KEYS_DIR=str(tmp_path / "keys"))))


def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ImproperlyConfigured, match=r"cannot be written: Not a directory\."):
        list(generate(env_of(tmp_path, KEYS_DIR=str(tmp_path / "file" / "keys"))))


def test_other_settings_are_not_read_from_the_folder_of_keys(tmp_path: Path) -> None:
    (tmp_path / "data" / "keys").mkdir(parents=True)
    (tmp_path / "data" / "keys" / "DATABASE_URL").write_text("postgresql://elsewhere/x")
    assert env_of(tmp_path).text("DATABASE_URL") == ""
