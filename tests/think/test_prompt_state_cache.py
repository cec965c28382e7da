"""What is kept of the opening: whole or not at all, and only for what made it."""

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


def kept(folder: Path, made_of: bytes = b"made of this", state: bytes = STATE) -> Path:
    """The file of it."""
    openings = PromptStateCache(folder)
    before = set(folder.iterdir()) if folder.exists() else set()
    openings.save(made_of, state)
    assert openings.wait_written(10)
    (path,) = set(folder.iterdir()) - before
    return path


def test_what_is_kept_is_found_again_by_what_made_it(tmp_path: Path) -> None:
    folder = tmp_path / "openings"
    path = kept(folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    openings = PromptStateCache(folder)
    assert openings.load(b"made of this") == STATE
    openings.mark_usable(b"made of this")
    assert PromptStateCache(folder).load(b"made of this") == STATE


def test_what_another_model_build_or_text_made_is_not_found(tmp_path: Path) -> None:
    kept(tmp_path)
    assert PromptStateCache(tmp_path).load(b"made of that") is None


def test_without_a_folder_there_is_nothing(tmp_path: Path) -> None:
    assert PromptStateCache(tmp_path / "none").load(b"made of this") is None


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


def one_bit_of_the_head(path: Path) -> None:
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
    [cut, one_bit, one_bit_of_the_head, longer, endless, empty, a_pipe, a_link, a_folder],
    ids=lambda harm: harm.__name__,
)
def test_what_is_not_exactly_what_was_kept_is_not_used(
    tmp_path: Path, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    harm(kept(tmp_path))
    assert PromptStateCache(tmp_path).load(b"made of this") is None
    assert "the saved state of the opening" in caplog.text


@pytest.mark.parametrize("harm", [cut, one_bit, endless, empty, a_pipe, a_link])
def test_what_cannot_be_used_is_written_anew(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    harm(kept(tmp_path))
    openings = PromptStateCache(tmp_path)
    openings.save(b"made of this", STATE)
    assert openings.wait_written(10)
    assert openings.load(b"made of this") == STATE


def test_a_state_that_ends_the_process_is_not_tried_a_second_time(tmp_path: Path) -> None:
    kept(tmp_path)
    assert PromptStateCache(tmp_path).load(b"made of this") == STATE  # and here the process ends
    assert PromptStateCache(tmp_path).load(b"made of this") is None
    assert list(tmp_path.iterdir()) == []


def test_no_more_than_two_are_kept_and_leftovers_go(tmp_path: Path) -> None:
    (tmp_path / ".half.state.new").write_bytes(STATE)
    for number, made_of in enumerate((b"one", b"two", b"three")):
        openings = PromptStateCache(tmp_path)
        openings.save(made_of, STATE)
        assert openings.wait_written(10)
        newest = max(tmp_path.glob("*.state"), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, ns=(number + 1, number + 1))  # a clock with coarse steps
    assert len(list(tmp_path.iterdir())) == MOST_FILES
    assert PromptStateCache(tmp_path).load(b"one") is None
    assert PromptStateCache(tmp_path).load(b"two") == STATE
    assert PromptStateCache(tmp_path).load(b"three") == STATE


def test_one_that_is_too_long_is_not_kept(tmp_path: Path) -> None:
    openings = PromptStateCache(tmp_path)
    openings.save(b"made of this", bytes(MOST_BYTES + 1))
    assert openings.wait_written(10)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said_and_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    openings = PromptStateCache(tmp_path / "file" / "openings")
    openings.save(b"made of this", STATE)
    assert openings.wait_written(10)
    assert "the state of the opening cannot be saved" in caplog.text


def test_a_models_file_is_told_from_others_of_its_size_and_time(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for path, ends in ((one, b"a"), (two, b"b")):
        path.write_bytes(b"x" * 5000 + ends)
        os.utime(path, ns=(1, 1))
    assert model_identity(one) == model_identity(one)
    assert model_identity(one) != model_identity(two)
    before = model_identity(one)
    os.utime(one, ns=(2, 2))
    assert model_identity(one) != before
