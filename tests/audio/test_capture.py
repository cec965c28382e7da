"""Capture writes the microphone's samples under their index, or zeros while it is muted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.messages.playback import (
    PlaybackStarted,
)
from tests.audio.rig import RATE_HZ, Rig, noise, rig_on
from tests.audio.sounds import DEEP, joined, said, shift_of, smooth

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]


# Cards of both rates
def test_a_sound_is_in_the_ring_at_the_index_at_which_it_sounded(either_card: Rig) -> None:
    rig = either_card
    rig.fresh()
    factor = rig.card.rate_hz // RATE_HZ
    sound = smooth(800, factor)
    index = said(rig, sound)
    found = joined(rig.mic_slots, index - 100, index + 900)
    assert abs(shift_of(found, sound[::factor], 100)) <= 2
    assert {len(slot.samples) for slot in rig.mic_slots} == {80}


def test_capture_and_playback_give_a_sample_the_same_index(either_card: Rig) -> None:
    """With the loudspeaker looped to the microphone, samples are captured at their index."""
    rig = either_card
    rig.card.set_echo([1.0])
    turn = rig.fresh()
    rig.say(turn, smooth(4800))
    first = rig.wait(PlaybackStarted).index
    rig.hear(first + 5200)
    rig.card.set_echo(None)
    heard = joined(rig.mic_slots, first - 100, first + 5000)
    played = joined(rig.played_slots, first, first + 4000)
    assert abs(shift_of(heard, played, 100)) <= 2


def test_muted_samples_are_zeros_in_the_ring(one_card: Rig) -> None:
    rig = one_card
    rig.fresh()
    rig.floor.muted = True
    rig.run(0.05)
    index = said(rig, noise(800))
    assert not joined(rig.mic_slots, index - 100, index + 900).any()
    rig.floor.muted = False
    rig.run(0.05)
    index = said(rig, noise(800))
    assert joined(rig.mic_slots, index - 100, index + 900).any()


def test_the_hardware_switch_mutes_regardless_of_the_conductor(one_card: Rig) -> None:
    rig = one_card
    rig.fresh()
    rig.floor.switched_off = True
    rig.floor.muted = False
    try:
        rig.run(0.05)
        index = said(rig, noise(800))
        assert not joined(rig.mic_slots, index - 100, index + 900).any()
    finally:
        rig.floor.switched_off = False
    rig.run(0.05)
    index = said(rig, noise(800))
    assert joined(rig.mic_slots, index - 100, index + 900).any()


def test_a_stereo_card_plays_both_channels_and_captures_the_left(tmp_path: Path) -> None:
    with rig_on(tmp_path, channels=2, **DEEP) as rig:
        turn = rig.fresh()
        answer = noise(800)
        rig.say(turn, answer)
        first = rig.wait(PlaybackStarted).index
        assert np.array_equal(rig.track(first, first + 800), answer)
        sound = noise(800, seed=5)
        index = said(rig, sound)
        assert abs(shift_of(joined(rig.mic_slots, index - 100, index + 900), sound, 100)) <= 2
