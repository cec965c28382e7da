"""The free space of a disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.runtime.free_space import SPARE_BYTES, free_bytes, lacking_bytes


def test_free_space_is_positive_and_a_missing_path_is_an_error(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) > 0
    with pytest.raises(FileNotFoundError):
        free_bytes(tmp_path / "none")


@pytest.mark.parametrize(
    ("needed", "free", "lacking"),
    [
        (100, SPARE_BYTES + 100, 0),
        (100, SPARE_BYTES + 99, 1),
        (100, 0, SPARE_BYTES + 100),
        (0, 1 << 40, 0),
    ],
)
def test_the_spare_bytes_stay_free(needed: int, free: int, lacking: int) -> None:
    assert lacking_bytes(needed, free) == lacking
