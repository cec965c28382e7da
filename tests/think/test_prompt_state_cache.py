"""The saved state of the opening: written atomically, and loaded only for the same origin."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.think.prompt_state_cache import (
    MOST_FILES,
    PromptStateCache,
    model_identity,
)
from appliance.think.state_file import MOST_BYTES

STATE = bytes(range(256)) * 40


def save(folder: Path, made_of: bytes = b"made of this", state: bytes = STATE) -> Path:
    """Save a state. Returns its file."""
    openings = PromptStateCache(folder)
    before = set(folder.iterdir()) if folder.exists() else set()
    openings.save(made_of, state)
    assert openings.wait_written(10)
    (path,) = set(folder.iterdir()) - before
    return path


def test_a_saved_state_is_loaded_for_the_same_origin(tmp_path: Path) -> None:
    folder = tmp_path / "openings"
    path = save(folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    openings = PromptStateCache(folder)
    assert openings.load(b"made of this") == STATE
    openings.mark_usable(b"made of this")
    assert PromptStateCache(folder).load(b"made of this") == STATE


def test_a_state_of_another_origin_is_not_loaded(tmp_path: Path) -> None:
    save(tmp_path)
    assert PromptStateCache(tmp_path).load(b"made of that") is None


def test_without_a_folder_nothing_is_loaded(tmp_path: Path) -> None:
    assert PromptStateCache(tmp_path / "none").load(b"made of this") is None


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


def one_bit_of_the_header(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[25] ^= 1
    path.write_bytes(data)


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def endless(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(MOST_BYTES + 4096)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_link(path: Path) -> None:
    target = path.with_suffix(".elsewhere")
    path.rename(target)
    path.symlink_to(target)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "harm",
    [cut, one_bit, one_bit_of_the_header, longer, endless, empty, a_pipe, a_link, a_folder],
    ids=lambda harm: harm.__name__,
)
def test_a_damaged_file_is_not_used_and_is_reported(
    tmp_path: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    harm(save(tmp_path))
    assert PromptStateCache(tmp_path).load(b"made of this") is None
    assert "the saved state of the opening" in caplog.text


@pytest.mark.parametrize("harm", [cut, one_bit, endless, empty, a_pipe, a_link])
def test_an_unusable_file_is_replaced(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    harm(save(tmp_path))
    openings = PromptStateCache(tmp_path)
    openings.save(b"made of this", STATE)
    assert openings.wait_written(10)
    assert openings.load(b"made of this") == STATE


def test_a_state_that_crashed_the_process_is_not_loaded_again(tmp_path: Path) -> None:
    save(tmp_path)
    assert PromptStateCache(tmp_path).load(b"made of this") == STATE  # the process ends here
    assert PromptStateCache(tmp_path).load(b"made of this") is None
    assert list(tmp_path.iterdir()) == []


def test_at_most_two_states_are_kept_and_leftovers_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".half.state.new").write_bytes(STATE)
    for number, made_of in enumerate((b"one", b"two", b"three")):
        openings = PromptStateCache(tmp_path)
        openings.save(made_of, STATE)
        assert openings.wait_written(10)
        newest = max(tmp_path.glob("*.state"), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, ns=(number + 1, number + 1))  # distinct times even on a coarse clock
    assert len(list(tmp_path.iterdir())) == MOST_FILES
    assert PromptStateCache(tmp_path).load(b"one") is None
    assert PromptStateCache(tmp_path).load(b"two") == STATE
    assert PromptStateCache(tmp_path).load(b"three") == STATE


def test_a_state_that_is_too_large_is_not_saved(tmp_path: Path) -> None:
    openings = PromptStateCache(tmp_path)
    openings.save(b"made of this", bytes(MOST_BYTES + 1))
    assert openings.wait_written(10)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_created_is_reported_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    openings = PromptStateCache(tmp_path / "file" / "openings")
    openings.save(b"made of this", STATE)
    assert openings.wait_written(10)
    assert "the state of the opening cannot be saved" in caplog.text


def test_the_identity_of_a_model_file_depends_on_content_and_time(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    for path, ends in ((first, b"a"), (second, b"b")):
        path.write_bytes(b"x" * 5000 + ends)
        os.utime(path, ns=(1, 1))
    assert model_identity(first) == model_identity(first)
    assert model_identity(first) != model_identity(second)
    before = model_identity(first)
    os.utime(first, ns=(2, 2))
    assert model_identity(first) != before
