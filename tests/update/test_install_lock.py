"""One installation at a time; the lock ends with the process that holds it."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from appliance.errors import InstallDeferred
from appliance.update.install_lock import locked


def test_a_second_installation_is_deferred_until_the_first_one_ends(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with (
        locked(path),
        pytest.raises(InstallDeferred, match="under way"),
        locked(path),
    ):
        raise AssertionError("two at a time")
    with locked(path):
        assert path.stat().st_mode & 0o777 == 0o600


def test_the_fallback_program_takes_the_same_lock(tmp_path: Path) -> None:
    """It calls flock(2) on the same file."""
    path = tmp_path / ".lock"
    with path.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InstallDeferred), locked(path):
            raise AssertionError("two at a time")


def test_a_blocking_io_error_inside_the_lock_is_not_taken_for_another_installation(
    tmp_path: Path,
) -> None:
    with pytest.raises(BlockingIOError), locked(tmp_path / ".lock"):
        raise BlockingIOError("a pipe that is full")
