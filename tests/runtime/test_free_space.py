"""The free space of a disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.runtime.free_space import free_bytes


def test_free_space_is_positive_and_a_missing_path_is_an_error(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) > 0
    with pytest.raises(FileNotFoundError):
        free_bytes(tmp_path / "none")
