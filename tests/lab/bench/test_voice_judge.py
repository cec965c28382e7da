"""The judge of voices: its vocabulary, the count of wrong words, and the times of words."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.pcm import RATE_HZ
from lab.bench.voice_judge import FRAME_SAMPLES, VoiceJudge, words_of, wrong_words
from lab.bench.voice_sentences import SENTENCES
from lab.sim import speech_source
from tests.voice.quick_judge import quick_judge


@pytest.fixture(scope="module")
def judge() -> VoiceJudge:
    return quick_judge()


@pytest.mark.parametrize(
    ("transcript", "wrong"),
    [
        ("the moon is far", 0),
        ("the moon is", 1),
        ("the moon it is far", 1),
        ("the noon is far", 1),
        ("moon the is far", 2),
        ("", 4),
    ],
)
def test_missing_extra_and_replaced_words_are_counted(transcript: str, wrong: int) -> None:
    assert wrong_words(words_of("The moon is far."), words_of(transcript)) == wrong


def test_the_aligner_knows_every_word_of_the_sentences(judge: VoiceJudge) -> None:
    words = {word for text in SENTENCES for word in words_of(text)}
    assert [word for word in sorted(words) if not judge.knows(word)] == []
    assert not judge.knows("kwrtx")


def test_the_sentences_contain_no_digits_or_symbols() -> None:
    assert len(set(SENTENCES)) == len(SENTENCES) == 20
    assert not any(letter.isdigit() or letter in "-/%&" for text in SENTENCES for letter in text)


@pytest.mark.long
def test_word_times_follow_the_sound(judge: VoiceJudge) -> None:
    """If the sound is delayed by half a second, all word times are half a second later."""
    words = words_of(SENTENCES[19])
    wave = speech_source.spoken(SENTENCES[19], "en-us", 150, 50)
    pcm = speech_source.scaled(wave, *speech_source.edges(wave), -20.0)
    delay = RATE_HZ // 2
    early = judge.aligned(words, pcm)
    late = judge.aligned(words, np.concatenate([np.zeros(delay, np.int16), pcm]))
    assert [word.word for word in early] == [word.word for word in late] == words
    assert all(word.begin < word.end for word in early)
    moved = [after.begin - before.begin for before, after in zip(early, late, strict=True)]
    assert float(np.median(moved)) == pytest.approx(delay, abs=3 * FRAME_SAMPLES)
    assert len(judge.heard(pcm)) > 1  # recognition still works after an alignment
