"""Synthetic phrases: their voices and their words."""

from __future__ import annotations

import random

import pytest

from appliance.errors import SceneError
from lab.sim.corpus import held_out
from lab.sim.synthetic_phrases import (
    GERMAN,
    HELD_OUT,
    REPEATS,
    SPOKEN,
    VARIANTS,
    Phrase,
    phrase,
    question,
    request_to_repeat,
    spoken,
)


def test_benches_use_only_voices_held_out_from_training() -> None:
    rng = random.Random(1)
    phrases = [phrase("backchannel", rng) for _ in range(50)]
    assert all(held_out(p.voice.split("+")[1]) for p in phrases)
    assert 0.1 < len(HELD_OUT) / len(VARIANTS) < 0.4


def test_prosody_varies_and_the_words_belong_to_their_class() -> None:
    rng = random.Random(1)
    phrases = [phrase("interruption", rng) for _ in range(100)]
    assert {p.text for p in phrases} <= set(SPOKEN["interruption"])
    assert len({p.contour for p in phrases}) > 3
    assert min(p.speed for p in phrases) < 110
    assert max(p.speed for p in phrases) > 190
    assert set(SPOKEN["interruption"]).isdisjoint(SPOKEN["backchannel"])


def test_the_same_seed_gives_the_same_phrase() -> None:
    assert phrase("backchannel", random.Random(3)) == phrase("backchannel", random.Random(3))


def test_a_phrase_has_an_onset_and_an_end_within_its_samples() -> None:
    clip = spoken(Phrase("backchannel", "mm-hm", "en-us+f2", 160, 50))
    assert clip.clear
    assert 0 <= clip.onset < clip.end <= len(clip.samples)
    assert clip.end - clip.onset > 1600


def test_an_unknown_voice_is_a_scene_error() -> None:
    with pytest.raises(SceneError, match="nobody"):
        spoken(Phrase("backchannel", "yes", "nobody", 160, 50))


def test_a_question_uses_a_held_out_voice() -> None:
    asked = question(random.Random(3))
    assert asked.voice.rpartition("+")[2] in HELD_OUT
    assert len(asked.text.split()) >= 4


def test_german_phrases_have_german_voices_and_words() -> None:
    rng = random.Random(1)
    for kind in ("backchannel", "interruption"):
        phrases_of_kind = [phrase(kind, rng, language="de") for _ in range(50)]
        assert {item.voice.partition("+")[0] for item in phrases_of_kind} == {"de"}
        assert {item.text for item in phrases_of_kind} <= set(GERMAN[kind])
    assert phrase("backchannel", rng).voice.startswith("en")


def test_requests_to_repeat_use_held_out_voices_and_their_own_words() -> None:
    rng = random.Random(3)
    asked = [request_to_repeat(rng) for _ in range(50)]
    assert {p.text for p in asked} == set(REPEATS)
    assert all(p.voice.rpartition("+")[2] in HELD_OUT for p in asked)
