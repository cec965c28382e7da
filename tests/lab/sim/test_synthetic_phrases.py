"""Synthetic phrases: whose voices, and what is said."""

from __future__ import annotations

import random

import pytest

from appliance.errors import SceneError
from lab.sim.corpus import held_out
from lab.sim.synthetic_phrases import (
    GERMAN,
    HELD_OUT,
    SPOKEN,
    VARIANTS,
    Phrase,
    phrase,
    question,
    spoken,
)


def test_a_bench_speaks_only_with_voices_that_no_training_may_use() -> None:
    rng = random.Random(1)
    said = [phrase("backchannel", rng) for _ in range(50)]
    assert all(held_out(p.voice.split("+")[1]) for p in said)
    assert 0.1 < len(HELD_OUT) / len(VARIANTS) < 0.4


def test_prosody_varies_and_words_are_of_their_class() -> None:
    rng = random.Random(1)
    said = [phrase("interruption", rng) for _ in range(100)]
    assert {p.text for p in said} <= set(SPOKEN["interruption"])
    assert len({p.contour for p in said}) > 3
    assert min(p.speed for p in said) < 110
    assert max(p.speed for p in said) > 190
    assert set(SPOKEN["interruption"]).isdisjoint(SPOKEN["backchannel"])


def test_the_same_seed_says_the_same() -> None:
    assert phrase("backchannel", random.Random(3)) == phrase("backchannel", random.Random(3))


def test_a_phrase_sounds_between_its_onset_and_its_end() -> None:
    clip = spoken(Phrase("backchannel", "mm-hm", "en-us+f2", 160, 50))
    assert clip.clear
    assert 0 <= clip.onset < clip.end <= len(clip.samples)
    assert clip.end - clip.onset > 1600


def test_a_voice_that_there_is_not_is_one_sentence() -> None:
    with pytest.raises(SceneError, match="nobody"):
        spoken(Phrase("backchannel", "yes", "nobody", 160, 50))


def test_a_question_is_asked_by_a_voice_of_the_benches() -> None:
    asked = question(random.Random(3))
    assert asked.voice.rpartition("+")[2] in HELD_OUT
    assert len(asked.text.split()) >= 4


def test_german_phrases_are_german_in_voice_and_words() -> None:
    rng = random.Random(1)
    for kind in ("backchannel", "interruption"):
        made = [phrase(kind, rng, language="de") for _ in range(50)]
        assert {each.voice.partition("+")[0] for each in made} == {"de"}
        assert {each.text for each in made} <= set(GERMAN[kind])
    assert phrase("backchannel", rng).voice.startswith("en")
