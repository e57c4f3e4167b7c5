"""Which DATA_DIR it is."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from apps.jobs.data_dirs import NAME, id_of


def test_a_data_dir_keeps_its_id_however_many_ask_first(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        ids = set(threads.map(lambda _: id_of(tmp_path), range(64)))
    assert len(ids | {id_of(tmp_path)}) == 1
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_copy_is_another_one(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    first = id_of(tmp_path / "first")
    shutil.copytree(tmp_path / "first", tmp_path / "copy")
    assert id_of(tmp_path / "copy") != first
    assert id_of(tmp_path / "first") == first


def test_a_damaged_id_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("")
    assert len(id_of(tmp_path)) == 32
