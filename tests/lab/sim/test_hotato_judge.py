"""hotato's judgement of sounds whose truth is known: it gave way, it went on, it paused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import StorageError
from appliance.pcm import RATE_HZ, Samples
from lab.sim import hotato_judge

ONSET_S = 2.0
YIELD = {"yield": True, "max_time_to_yield_sec": 1.0, "max_talk_over_sec": 1.0}
HOLD = {"yield": False, "max_time_to_yield_sec": None}


def two_channels(*silences_s: tuple[float, float], seconds: float = 7.0) -> Samples:
    """A person who speaks from 2.0 to 3.0 s, and a box that talks but for `silences_s`."""
    frames = np.arange(round(seconds * RATE_HZ))
    tone = 8000 * np.sin(2 * np.pi * 200 * frames / RATE_HZ)
    person, box = np.zeros(len(frames)), tone.copy()
    person[2 * RATE_HZ : 3 * RATE_HZ] = tone[2 * RATE_HZ : 3 * RATE_HZ]
    for begin, end in silences_s:
        box[round(begin * RATE_HZ) : round(end * RATE_HZ)] = 0
    return np.stack([person, box], axis=1).astype(np.int16)


def test_a_box_that_falls_silent_gave_way_at_that_moment(tmp_path: Path) -> None:
    found = hotato_judge.judge(tmp_path / "a.wav", two_channels((2.3, 7.0)), ONSET_S, YIELD)
    assert found.yielded
    assert found.right
    assert found.after_s == pytest.approx(0.3, abs=0.03)
    assert found.talk_over_s == pytest.approx(0.3, abs=0.03)


def test_a_box_that_goes_on_is_right_over_a_murmur_and_wrong_over_a_call(tmp_path: Path) -> None:
    talk = two_channels()
    murmur = hotato_judge.judge(tmp_path / "a.wav", talk, ONSET_S, HOLD)
    call = hotato_judge.judge(tmp_path / "a.wav", talk, ONSET_S, YIELD)
    assert (murmur.yielded, murmur.after_s, murmur.right, murmur.why) == (False, None, True, "")
    assert not call.right
    assert call.why


@pytest.mark.parametrize(("pause_s", "yielded"), [(0.25, False), (0.5, True)])
def test_a_pause_counts_as_giving_way_only_if_it_is_long(
    tmp_path: Path, pause_s: float, yielded: bool
) -> None:
    talk = two_channels((2.05, 2.05 + pause_s))
    assert hotato_judge.judge(tmp_path / "a.wav", talk, ONSET_S, HOLD).yielded is yielded
    assert "0.35 s" in hotato_judge.thresholds()


def test_giving_way_too_late_is_wrong(tmp_path: Path) -> None:
    late = two_channels((3.4, 7.0))
    found = hotato_judge.judge(tmp_path / "a.wav", late, ONSET_S, YIELD)
    assert (found.yielded, found.right) == (True, False)


def test_a_box_that_was_silent_already_cannot_be_judged(tmp_path: Path) -> None:
    found = hotato_judge.judge(tmp_path / "a.wav", two_channels((1.0, 7.0)), ONSET_S, YIELD)
    assert not found.right
    assert "not talking" in found.why


def test_a_file_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be written"):
        hotato_judge.judge(tmp_path / "file" / "a.wav", two_channels(), ONSET_S, HOLD)


def test_it_notices_that_hotato_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hotato_judge.is_installed()
    monkeypatch.setitem(sys.modules, "hotato", None)
    assert not hotato_judge.is_installed()
