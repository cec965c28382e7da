"""A folder lock is exclusive, waits up to its timeout, and is always released."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from appliance.runtime.folder_lock import lock, locked


def test_a_lock_is_released_and_leaves_no_file(tmp_path: Path) -> None:
    for _ in range(2):
        with locked(tmp_path, 0.0) as held:
            assert held
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_not_locked(tmp_path: Path) -> None:
    with locked(tmp_path / "none", 0.0) as held:
        assert not held
    assert list(tmp_path.iterdir()) == []


def test_a_second_lock_times_out_with_an_error_that_names_the_folder(tmp_path: Path) -> None:
    began_s = time.monotonic()
    with (
        locked(tmp_path, 0.0),
        pytest.raises(TimeoutError, match="in use by another program") as caught,
        locked(tmp_path, 0.1),
    ):
        raise AssertionError("both hold it")
    assert time.monotonic() - began_s >= 0.1
    assert caught.value.filename == str(tmp_path)


def test_an_exception_releases_the_lock(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path, 0.0):
        raise ZeroDivisionError
    with locked(tmp_path, 0.0) as held:
        assert held


@pytest.mark.process
def test_the_end_of_a_process_releases_the_lock(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with locked(tmp_path, 0.0):
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with locked(tmp_path, 0.0) as held:
        assert held


def test_a_file_is_locked_until_it_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    first, second = (os.open(file, os.O_CREAT | os.O_RDWR) for _ in range(2))
    lock(first, file, 0.0)
    with pytest.raises(TimeoutError):
        lock(second, file, 0.0)
    os.close(first)
    lock(second, file, 0.0)
    os.close(second)


def test_a_file_in_place_of_the_folder_raises_an_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(NotADirectoryError), locked(file, 0.0):
        raise AssertionError("a file was taken for a folder")
