"""The speech of the box in a bench: its voice, its length, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.errors import VoiceError
from appliance.pcm import RATE_HZ
from appliance.settings import load
from appliance.voice.postprocess import rms_dbfs
from lab.bench.bench_speech import (
    PAUSE_S,
    SENTENCES,
    espeak_talk,
    name_of,
    synthesised,
    talk,
)
from lab.sim.acoustics import FULL_SCALE_SPEECH_DB

HIBARI, ESPEAK = (load(None, {"speaking": {"voice": name}}) for name in ("hibari", "espeak"))


@pytest.mark.parametrize("seconds", [0.5, 3.0])
def test_the_speech_has_the_requested_length_and_depends_on_the_seed(seconds: float) -> None:
    synthesised = espeak_talk(seconds, 1, voices=("en-us",))
    assert len(synthesised) == round(seconds * RATE_HZ)
    assert np.array_equal(synthesised, espeak_talk(seconds, 1, voices=("en-us",)))
    assert not np.array_equal(synthesised, espeak_talk(seconds, 2, voices=("en-us",)))


def test_the_speech_is_loud_and_no_silence_is_longer_than_a_pause() -> None:
    synthesised = np.abs(espeak_talk(6.0, 3, voices=("en-us",)).astype(np.int32))
    loud_at = np.flatnonzero(synthesised > 300)
    assert np.diff(loud_at).max() / RATE_HZ < max(PAUSE_S) + 0.3
    assert synthesised.max() > 8000


def test_the_default_voice_is_hibari_and_espeak_can_be_chosen() -> None:
    assert name_of(load(None)) == "hibari"
    assert name_of(ESPEAK) == "espeak"
    assert np.array_equal(talk(ESPEAK, 2.0, 5), espeak_talk(2.0, 5))
    with pytest.raises(VoiceError, match="no voice `nobody`"):
        name_of(load(None, {"speaking": {"voice": "nobody"}}))


@pytest.mark.process
def test_hibari_is_as_loud_as_espeak_and_the_same_for_the_same_seed() -> None:
    some = SENTENCES[-8:]  # it says all of them, at each pace that it needs
    speech = talk(HIBARI, 12.0, 1, some)
    assert len(speech) == 12 * RATE_HZ
    assert np.array_equal(speech, talk(HIBARI, 12.0, 1, some))
    assert not np.array_equal(speech, talk(HIBARI, 12.0, 2, some))
    assert not np.array_equal(speech, talk(HIBARI, 12.0, 1, SENTENCES[-9:-1])), "its own sentences"
    assert not np.array_equal(speech, talk(ESPEAK, 12.0, 1))
    by_both = [rms_dbfs(wave, RATE_HZ) for wave in (speech, talk(ESPEAK, 12.0, 1))]
    assert by_both == pytest.approx([FULL_SCALE_SPEECH_DB] * 2, abs=2.0)


@pytest.mark.process
def test_a_text_is_synthesised_by_the_voice_of_the_settings() -> None:
    by_both = [synthesised(setting, "Good morning.") for setting in (HIBARI, ESPEAK)]
    assert all(0.3 < len(speech) / RATE_HZ < 2.0 for speech in by_both)
    assert len(by_both[0]) != len(by_both[1])
