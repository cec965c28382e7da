"""How loud each sample is: no step that would click, whatever is asked for in the middle of it."""

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


def test_it_begins_open_and_changes_no_sample() -> None:
    assert np.array_equal(fader().ramp_to(loud()), loud())


def test_a_fade_out_takes_so_many_samples_and_is_silent_from_then_on() -> None:
    it = fader()
    out = it.fade_out(loud(it.fade_out_samples)).copy()
    assert np.all(np.diff(out[: DOWN + 1].astype(int)) <= 0)
    assert out[0] > 0.99 * LOUD
    assert not out[DOWN:].any()
    assert it.is_muted
    assert it.fade_out_samples == 0


def test_a_fade_in_comes_up_from_silence_over_its_blocks() -> None:
    it = fader()
    it.mute_now()
    out = np.concatenate([it.ramp_to(loud()).copy() for _ in range(3)]).astype(int)
    assert out[0] < 10
    assert np.all(np.diff(out[:UP]) >= 0)
    assert np.all(out[UP:] == LOUD)


def test_a_voice_that_ends_at_a_loud_sample_fades_from_it() -> None:
    it = fader()
    out = it.ramp_to(loud(40)).copy()
    assert np.all(out[:40] == LOUD)
    assert np.all(np.diff(out[39:].astype(int)) <= 0)
    assert 0 < out[40] < LOUD
    assert not out[40 + DOWN :].any()


@pytest.mark.parametrize(("level", "rings_out"), [(QUIET, False), (QUIET + 1, True)])
def test_a_quiet_end_needs_no_fade(level: int, rings_out: bool) -> None:
    out = fader().ramp_to(np.full(40, level, np.int16))
    assert out[40:].any() == rings_out


def test_the_fade_of_an_ended_voice_goes_on_in_the_next_block() -> None:
    it = fader()
    first = it.ramp_to(loud(BLOCK - 10)).copy()
    second = it.silence().copy()
    assert 0 < second[0] < first[-1]
    assert not second[DOWN - 10 :].any()
    assert not it.silence().any()


def test_ducking_stops_at_its_level_and_comes_back() -> None:
    it = fader()
    down = [it.ramp_to(loud(), 0.125).copy() for _ in range(2)]
    assert np.all(down[1] == LOUD * 0.125)
    back = np.concatenate([it.ramp_to(loud()).copy() for _ in range(3)])
    assert back[-1] == LOUD
    assert back[0] < LOUD * 0.13


@pytest.mark.parametrize(("volume", "loudness"), [(0.0, 0), (0.5, LOUD // 2), (1.0, LOUD)])
def test_a_new_volume_is_reached_by_the_end_of_the_next_block(volume: float, loudness: int) -> None:
    it = fader(volume=0.25)
    it.set_volume(volume)
    first = it.ramp_to(loud()).copy().astype(int)
    assert first[-1] == loudness
    assert np.abs(np.diff(first)).max() <= LOUD // BLOCK + 1
    assert np.all(it.ramp_to(loud()) == loudness)


ASKED = st.lists(
    st.sampled_from(("open", "duck", "shut", "ends", "silence", "louder", "softer")), max_size=30
)


@given(ASKED)
def test_whatever_is_asked_for_no_two_samples_are_a_click_apart(asked: list[str]) -> None:
    """Of a constant voice: what is not constant about the sound is the fader's."""
    it = fader()
    last = int(it.ramp_to(loud())[-1])
    steepest = LOUD * 0.06 + 1  # of the fades' half cosines: pi / 2 / DOWN of the whole
    for act in asked:
        if act in ("louder", "softer"):
            it.set_volume(1.0 if act == "louder" else 0.25)
        match act:
            case "open" | "louder" | "softer":
                block = it.ramp_to(loud())
            case "duck":
                block = it.ramp_to(loud(), 0.125)
            case "shut":
                block = it.fade_out(loud(min(BLOCK, it.fade_out_samples)))
            case "ends":
                block = it.ramp_to(loud(30))
                it.mute_now()
            case _:
                block = it.silence()
                it.mute_now()
        heard = np.concatenate([[last], block.astype(int)])
        assert np.abs(np.diff(heard)).max() <= steepest
        last = int(block[-1])
