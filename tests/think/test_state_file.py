"""A state's file is opened if it is whole and made of the same, and tried once at a time."""

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


def test_what_was_sealed_is_opened_by_what_made_it() -> None:
    assert len(SEALED) == HEAD_BYTES + len(STATE)
    assert unseal(MAGIC, MADE_OF, SEALED) == STATE


@pytest.mark.parametrize(
    "data",
    [
        b"", SEALED[: HEAD_BYTES - 1], SEALED[:-1], SEALED + b"x", SEALED[:-1] + b"\0",
        seal(MAGIC, b"another model", STATE), seal(b"interlude others 1  ", MADE_OF, STATE),
    ],
)  # fmt: skip
def test_what_is_not_exactly_that_is_not_opened(
    tmp_path: Path, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert unseal(MAGIC, MADE_OF, data) is None
    (tmp_path / "state").write_bytes(data)
    assert load(tmp_path / "state", MAGIC, MADE_OF, "the moon") is None
    assert "the saved state of the moon is damaged" in caplog.text


def test_what_is_not_there_is_none_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert load(tmp_path / "state", MAGIC, MADE_OF, "the moon") is None
    assert not caplog.records


def test_what_is_too_long_is_not_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with (tmp_path / "state").open("wb") as file:
        file.truncate(HEAD_BYTES + MOST_BYTES + 1)
    assert load(tmp_path / "state", MAGIC, MADE_OF, "the moon") is None
    assert "cannot be read" in caplog.text


def test_a_state_that_was_set_apart_is_loaded_only_once_it_is_put_back(
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
