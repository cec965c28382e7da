"""The room's response is saved across restarts: private, complete and tied to its card."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from appliance.atomic_file import fresh_name
from appliance.background_file import write_private
from appliance.errors import StorageError
from appliance.hear.aec import store

TAPS = np.linspace(-0.1, 0.1, 320, dtype=np.float32)


def test_a_saved_response_is_loaded_bit_for_bit(tmp_path: Path) -> None:
    store.save(tmp_path, "card", TAPS)
    found = store.load(tmp_path, "card", 320)
    assert found is not None
    assert np.array_equal(found, TAPS)


def test_a_missing_file_is_not_an_error(tmp_path: Path) -> None:
    assert store.load(tmp_path / "nowhere", "card", 320) is None


def test_the_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    left = fresh_name(tmp_path / store.FILE)
    write_private(left, b"left over")
    left.chmod(0o644)
    store.save(tmp_path, "card", TAPS)
    assert stat.S_IMODE((tmp_path / store.FILE).stat().st_mode) == 0o600


def test_the_response_of_another_card_is_not_loaded(tmp_path: Path) -> None:
    store.save(tmp_path, "card", TAPS)
    assert store.load(tmp_path, "another", 320) is None


@pytest.mark.parametrize(
    "taps",
    [
        TAPS[:100],
        TAPS.astype(np.float32) * np.float32(np.nan),
        np.full(320, 1e6, np.float32),
    ],
)
def test_an_implausible_response_is_refused(
    tmp_path: Path, taps: np.ndarray[tuple[int], np.dtype[np.float32]]
) -> None:
    store.save(tmp_path, "card", taps)
    with pytest.raises(StorageError, match="damaged"):
        store.load(tmp_path, "card", 320)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_a_damaged_file_raises_a_storage_error(tmp_path: Path, content: bytes) -> None:
    write_private(tmp_path / store.FILE, content)
    with pytest.raises(StorageError, match="damaged"):
        store.load(tmp_path, "card", 320)


@pytest.mark.long
def test_a_flipped_bit_gives_a_response_or_a_storage_error(tmp_path: Path) -> None:
    store.save(tmp_path, "card", TAPS)
    path = tmp_path / store.FILE
    complete, damaged = path.read_bytes(), 0
    for at in [*range(30, 80), *range(len(complete) - 140, len(complete))]:
        for bit in range(8):
            path.write_bytes(complete[:at] + bytes([complete[at] ^ 1 << bit]) + complete[at + 1 :])
            try:
                store.load(tmp_path, "card", 320)
            except StorageError:
                damaged += 1
    assert damaged > 400


def test_a_folder_that_cannot_be_written_raises_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="could not be written"):
        store.save(tmp_path / "file" / "folder", "card", TAPS)
