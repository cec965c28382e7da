"""The fader's gain has no audible step for any sequence of calls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.audio.fader import QUIET, Fader
from appliance.pcm import Samples

BLOCK, DOWN, UP = 80, 32, 160
LOUD = 20_000


def fader(volume: float = 1.0) -> Fader:
    return Fader(BLOCK, down_frames=DOWN, up_frames=UP, volume=volume)


def loud(frames: int = BLOCK) -> Samples:
    return np.full(frames, LOUD, np.int16)


def test_a_new_fader_passes_samples_unchanged() -> None:
    assert np.array_equal(fader().ramp_to(loud()), loud())


def test_a_fade_out_takes_its_samples_and_is_silent_afterwards() -> None:
    fader_ = fader()
    out = fader_.fade_out(loud(fader_.fade_out_samples)).copy()
    assert np.all(np.diff(out[: DOWN + 1].astype(int)) <= 0)
    assert out[0] > 0.99 * LOUD
    assert not out[DOWN:].any()
    assert fader_.is_muted
    assert fader_.fade_out_samples == 0


def test_a_fade_in_rises_from_silence_across_blocks() -> None:
    fader_ = fader()
    fader_.mute_now()
    out = np.concatenate([fader_.ramp_to(loud()).copy() for _ in range(3)]).astype(int)
    assert out[0] < 10
    assert np.all(np.diff(out[:UP]) >= 0)
    assert np.all(out[UP:] == LOUD)


def test_a_voice_that_ends_at_a_loud_sample_is_faded_out() -> None:
    fader_ = fader()
    out = fader_.ramp_to(loud(40)).copy()
    assert np.all(out[:40] == LOUD)
    assert np.all(np.diff(out[39:].astype(int)) <= 0)
    assert 0 < out[40] < LOUD
    assert not out[40 + DOWN :].any()


@pytest.mark.parametrize(("level", "rings_out"), [(QUIET, False), (QUIET + 1, True)])
def test_a_quiet_end_needs_no_fade(level: int, rings_out: bool) -> None:
    out = fader().ramp_to(np.full(40, level, np.int16))
    assert out[40:].any() == rings_out


def test_the_fade_of_an_ended_voice_continues_in_the_next_block() -> None:
    fader_ = fader()
    first = fader_.ramp_to(loud(BLOCK - 10)).copy()
    second = fader_.silence().copy()
    assert 0 < second[0] < first[-1]
    assert not second[DOWN - 10 :].any()
    assert not fader_.silence().any()


def test_ducking_holds_its_level_and_is_undone() -> None:
    fader_ = fader()
    down = [fader_.ramp_to(loud(), 0.125).copy() for _ in range(2)]
    assert np.all(down[1] == LOUD * 0.125)
    back = np.concatenate([fader_.ramp_to(loud()).copy() for _ in range(3)])
    assert back[-1] == LOUD
    assert back[0] < LOUD * 0.13


@pytest.mark.parametrize(("volume", "loudness"), [(0.0, 0), (0.5, LOUD // 2), (1.0, LOUD)])
def test_a_new_volume_is_reached_by_the_end_of_the_next_block(volume: float, loudness: int) -> None:
    fader_ = fader(volume=0.25)
    fader_.set_volume(volume)
    first = fader_.ramp_to(loud()).copy().astype(int)
    assert first[-1] == loudness
    assert np.abs(np.diff(first)).max() <= LOUD // BLOCK + 1
    assert np.all(fader_.ramp_to(loud()) == loudness)


ACTIONS = st.lists(
    st.sampled_from(("open", "duck", "shut", "ends", "silence", "louder", "softer")), max_size=30
)


@given(ACTIONS)
def test_no_sequence_of_calls_causes_a_click(actions: list[str]) -> None:
    """The voice is constant, so any change in the output comes from the fader."""
    fader_ = fader()
    last = int(fader_.ramp_to(loud())[-1])
    steepest = LOUD * 0.06 + 1  # slope of the fades' half cosines: pi / 2 / DOWN of the range
    for action in actions:
        if action in ("louder", "softer"):
            fader_.set_volume(1.0 if action == "louder" else 0.25)
        match action:
            case "open" | "louder" | "softer":
                block = fader_.ramp_to(loud())
            case "duck":
                block = fader_.ramp_to(loud(), 0.125)
            case "shut":
                block = fader_.fade_out(loud(min(BLOCK, fader_.fade_out_samples)))
            case "ends":
                block = fader_.ramp_to(loud(30))
                fader_.mute_now()
            case _:
                block = fader_.silence()
                fader_.mute_now()
        heard = np.concatenate([[last], block.astype(int)])
        assert np.abs(np.diff(heard)).max() <= steepest
        last = int(block[-1])
