"""An adjustment from outside is in effect until the owner edits that line of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from appliance.background_file import write_private
from appliance.settings import Settings, adjusted, load
from tests.settings.written import written


def in_state(folder: Path, text: str = "", **adjusted_to: Any) -> Settings:
    """Settings whose state directory is `folder`, with these adjustments saved there."""
    values = {key: {"value": value, "file": was} for key, (value, was) in adjusted_to.items()}
    write_private(folder / adjusted.FILE, msgspec.json.encode({"version": 1, **values}))
    return load(written(folder, f"state_dir: {folder}\n{text}"))


def test_an_adjustment_is_in_effect_while_the_files_value_is_unchanged(tmp_path: Path) -> None:
    files = in_state(
        tmp_path, "speaking: {voice: amy}", mode=("wake_word", "open"), volume=(0.43, 0.8),
        voice=("joe", "espeak"),
    )  # fmt: skip
    now = adjusted.adjusted(files)
    assert (now.mode, now.speaking.volume) == ("wake_word", 0.43)
    assert now.speaking.voice == "amy"  # the owner has edited that line since
    assert adjusted.names(files) == {"mode": "open", "speaking.volume": 0.8}
    assert now.hearing == files.hearing


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff", b'{"version":2}', b'{"volume":{"value":1.5,"file":0.8}}',
     b'{"volume":{"value":"loud","file":0.8}}', b'{"mode":{"value":"deaf","file":"open"}}',
     b'{"voice":{"value":"","file":"auto"}}', b'{"volume":{"value":NaN,"file":0.8}}'],
)  # fmt: skip
def test_a_damaged_file_of_adjustments_is_ignored_reported_and_replaced(
    tmp_path: Path, content: bytes
) -> None:
    files = load(written(tmp_path, f"state_dir: {tmp_path}"))
    write_private(tmp_path / adjusted.FILE, content)
    assert adjusted.adjusted(files) == files
    store = adjusted.AdjustmentStore(files)
    [complaint] = store.complaints()
    assert "damaged" in complaint
    store.follow("wake_word", 0.3, "amy")
    store.request_stop()
    store.join()
    now = adjusted.adjusted(files)
    assert (now.mode, now.speaking.volume, now.speaking.voice) == ("wake_word", 0.3, "amy")


def test_an_adjustment_back_to_the_files_value_is_removed(tmp_path: Path) -> None:
    files = in_state(tmp_path, volume=(0.43, 0.8), voice=("joe", "auto"))
    store = adjusted.AdjustmentStore(files)
    store.follow(files.mode, 0.8, "")
    store.request_stop()
    store.join()
    assert adjusted.names(files) == {}


@pytest.mark.parametrize(
    ("given", "saved"), [(-1.0, 0.0), (7.0, 1.0), (float("nan"), 0.8), (float("inf"), 0.8)]
)
def test_an_invalid_volume_is_clamped_or_dropped(
    tmp_path: Path, given: float, saved: float
) -> None:
    files = load(written(tmp_path, f"state_dir: {tmp_path}"))
    store = adjusted.AdjustmentStore(files)
    store.follow(files.mode, given, None)
    store.request_stop()
    store.join()
    assert adjusted.adjusted(files).speaking.volume == saved
