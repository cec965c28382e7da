"""What the box says in a bench: by its voice, as long as asked for, the same for one seed."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.errors import VoiceError
from appliance.pcm import RATE_HZ
from appliance.settings import load
from appliance.voice.postprocess import rms_dbfs
from lab.bench.bench_speech import PAUSE_S, espeak_talk, name_of, synthesised, talk
from lab.sim.acoustics import FULL_SCALE_SPEECH_DB

HIBARI, ESPEAK = (load(None, {"speaking": {"voice": name}}) for name in ("hibari", "espeak"))


@pytest.mark.parametrize("seconds", [0.5, 3.0])
def test_it_is_as_long_as_asked_for_and_of_the_seeds_own_chance(seconds: float) -> None:
    synthesised = espeak_talk(seconds, 1, voices=("en-us",))
    assert len(synthesised) == round(seconds * RATE_HZ)
    assert np.array_equal(synthesised, espeak_talk(seconds, 1, voices=("en-us",)))
    assert not np.array_equal(synthesised, espeak_talk(seconds, 2, voices=("en-us",)))


def test_it_is_loud_and_no_silence_is_longer_than_a_pause() -> None:
    synthesised = np.abs(espeak_talk(6.0, 3, voices=("en-us",)).astype(np.int32))
    quiet = np.flatnonzero(synthesised > 300)
    assert np.diff(quiet).max() / RATE_HZ < max(PAUSE_S) + 0.3
    assert synthesised.max() > 8000


def test_a_box_without_a_wish_talks_with_hibari_and_one_with_espeak_as_before() -> None:
    assert name_of(load(None)) == "hibari"
    assert name_of(ESPEAK) == "espeak"
    assert np.array_equal(talk(ESPEAK, 2.0, 5), espeak_talk(2.0, 5))
    with pytest.raises(VoiceError, match="no voice `nobody`"):
        name_of(load(None, {"speaking": {"voice": "nobody"}}))


@pytest.mark.process
def test_hibari_talks_as_loud_as_espeak_and_the_same_for_the_same_seed() -> None:
    made = talk(HIBARI, 12.0, 1)
    assert len(made) == 12 * RATE_HZ
    assert np.array_equal(made, talk(HIBARI, 12.0, 1))
    assert not np.array_equal(made, talk(HIBARI, 12.0, 2))
    assert not np.array_equal(made, talk(ESPEAK, 12.0, 1))
    by_both = [rms_dbfs(each, RATE_HZ) for each in (made, talk(ESPEAK, 12.0, 1))]
    assert by_both == pytest.approx([FULL_SCALE_SPEECH_DB] * 2, abs=2.0)


@pytest.mark.process
def test_a_text_is_said_by_the_voice_of_the_settings() -> None:
    by_both = [synthesised(each, "Good morning.") for each in (HIBARI, ESPEAK)]
    assert all(0.3 < len(made) / RATE_HZ < 2.0 for made in by_both)
    assert len(by_both[0]) != len(by_both[1])
