"""A state file is loaded only if it is complete and of the same origin, and is tried only once."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.think.state_file import (
    HEAD_BYTES,
    MOST_BYTES,
    load,
    mark_tried,
    seal,
    tried_path,
    unmark_tried,
    unseal,
)

MAGIC = b"interlude states 1  "
MADE_OF, STATE = b"this model", bytes(range(256)) * 4
SEALED = seal(MAGIC, MADE_OF, STATE)


def test_a_sealed_state_is_unsealed_with_the_same_origin() -> None:
    assert len(SEALED) == HEAD_BYTES + len(STATE)
    assert unseal(MAGIC, MADE_OF, SEALED) == STATE


@pytest.mark.parametrize(
    "data",
    [
        b"", SEALED[: HEAD_BYTES - 1], SEALED[:-1], SEALED + b"x", SEALED[:-1] + b"\0",
        seal(MAGIC, b"another model", STATE), seal(b"interlude others 1  ", MADE_OF, STATE),
    ],
)  # fmt: skip
def test_a_damaged_or_different_state_is_not_unsealed(
    tmp_path: Path, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert unseal(MAGIC, MADE_OF, data) is None
    (tmp_path / "state").write_bytes(data)
    assert load(tmp_path / "state", MAGIC, MADE_OF, "the moon") is None
    assert "the saved state of the moon is damaged" in caplog.text


def test_a_missing_file_gives_none_without_a_log_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert load(tmp_path / "state", MAGIC, MADE_OF, "the moon") is None
    assert not caplog.records


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (tmp_path / "state").open("wb") as file:
        file.truncate(HEAD_BYTES + MOST_BYTES + 1)
    assert load(tmp_path / "state", MAGIC, MADE_OF, "the moon") is None
    assert "cannot be read" in caplog.text


def test_a_state_marked_as_tried_is_not_loaded_until_unmarked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "state"
    path.write_bytes(SEALED)
    assert load(path, MAGIC, MADE_OF, "the moon") == STATE
    tried = mark_tried(path)
    assert tried == tried_path(path)
    assert [tried] == list(tmp_path.iterdir())
    assert load(tried, MAGIC, MADE_OF, "the moon") is None
    assert "failed last time" in caplog.text
    unmark_tried(tried)
    assert load(path, MAGIC, MADE_OF, "the moon") == STATE
