"""The judge of voices: it knows the words of the sentences, counts those that are wrong, and finds
where words lie."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.pcm import RATE_HZ
from lab.bench.voice_judge import FRAME_SAMPLES, VoiceJudge, words_of, wrong_words
from lab.bench.voice_sentences import SENTENCES
from lab.sim import speech_source


@pytest.fixture(scope="module")
def judge() -> VoiceJudge:
    return VoiceJudge()


@pytest.mark.parametrize(
    ("heard", "wrong"),
    [
        ("the moon is far", 0),
        ("the moon is", 1),
        ("the moon it is far", 1),
        ("the noon is far", 1),
        ("moon the is far", 2),
        ("", 4),
    ],
)
def test_words_that_are_missing_too_many_or_others_are_wrong(heard: str, wrong: int) -> None:
    assert wrong_words(words_of("The moon is far."), words_of(heard)) == wrong


def test_the_alignment_can_find_every_word_of_the_sentences(judge: VoiceJudge) -> None:
    words = {word for text in SENTENCES for word in words_of(text)}
    assert [word for word in sorted(words) if not judge.knows(word)] == []
    assert not judge.knows("kwrtx")


def test_the_sentences_are_said_as_they_are_written() -> None:
    assert len(set(SENTENCES)) == len(SENTENCES) == 20
    assert not any(letter.isdigit() or letter in "-/%&" for text in SENTENCES for letter in text)


@pytest.mark.long
def test_words_lie_where_the_sound_has_them(judge: VoiceJudge) -> None:
    """Of the same sound half a second later, all words lie half a second later."""
    words = words_of(SENTENCES[6])
    wave = speech_source.spoken(SENTENCES[6], "en-us", 150, 50)
    pcm = speech_source.scaled(wave, *speech_source.edges(wave), -20.0)
    delay = RATE_HZ // 2
    early = judge.aligned(words, pcm)
    late = judge.aligned(words, np.concatenate([np.zeros(delay, np.int16), pcm]))
    assert [word.word for word in early] == [word.word for word in late] == words
    assert all(word.begin < word.end for word in early)
    moved = [after.begin - before.begin for before, after in zip(early, late, strict=True)]
    assert float(np.median(moved)) == pytest.approx(delay, abs=3 * FRAME_SAMPLES)
    assert len(judge.heard(pcm)) > 1  # after an alignment it takes dictation again
