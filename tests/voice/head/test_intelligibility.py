"""Is what the shipped head says understood? By pocketsphinx, on answers that it was not trained on.

A head that makes sounds in time, of the right length and level, passes every other test.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import soxr

from appliance.pcm import RATE_HZ, Samples
from appliance.voice.head.codec import Codec
from appliance.voice.head.speech_head import SpeechHead
from lab.bench import head_answers
from lab.bench.voice_judge import VoiceJudge, words_of, wrong_words
from tests.voice.head.spoken import SHIPPED, recite

# A recogniser on 20 s of speech, and twice on 10 s of noise.
pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

HELD_OUT = tuple(head_answers.HELD_OUT[name] for name in ("italy", "where", "spider", "book"))
MOST_WRONG = 0.45  # of the words: the shipped weights have far less
BROKEN = 0.8  # at least, of sounds that say nothing
FEW = slice(1, 3)  # of the answers, to break: the recogniser takes longest over what says nothing


@pytest.fixture(scope="module")
def said() -> list[npt.NDArray[np.int64]]:
    """Codes of each text."""
    head, out = SpeechHead(SHIPPED), []
    for text in HELD_OUT:
        stream, states = head.begin(), recite(text).states
        stream.push(states[:, 1:], states[:, 0])
        stream.end()
        out.append(np.stack([frame.codes for frame in stream.frames()]))
    return out


def heard(codes: list[npt.NDArray[np.int64]], texts: tuple[str, ...]) -> list[tuple[int, int]]:
    """Of each text: how many words the recogniser gets wrong, and of how many."""
    codec, judge, told = Codec(SHIPPED / "codec.json"), VoiceJudge(), []
    for text, rows in zip(texts, codes, strict=True):
        samples, _ = codec.decode(rows, codec.start())
        slow = soxr.resample(samples, codec.rate_hz, RATE_HZ)
        sound: Samples = (32767 * slow.clip(-1, 1)).astype(np.int16)
        words = words_of(text)
        told.append((wrong_words(words, judge.heard(sound)), len(words)))
    return told


def wrong(told: list[tuple[int, int]]) -> float:
    """The part of all words."""
    return sum(count for count, _ in told) / sum(of for _, of in told)


def test_held_out_answers_are_understood(said: list[npt.NDArray[np.int64]]) -> None:
    told = heard(said, HELD_OUT)
    assert wrong(told) < MOST_WRONG
    assert wrong(told[FEW]) < MOST_WRONG, "of those that are broken below"


def test_with_a_shuffled_book_nothing_is_understood(said: list[npt.NDArray[np.int64]]) -> None:
    """The bound tells a head that speaks from one that only sounds."""
    shuffled = np.random.default_rng(0).permutation(2048)
    broken = [rows.copy() for rows in said[FEW]]
    for rows in broken:
        rows[:, 0] = shuffled[rows[:, 0]]
    assert wrong(heard(broken, HELD_OUT[FEW])) > BROKEN > MOST_WRONG


def test_frames_in_another_order_are_not_understood(said: list[npt.NDArray[np.int64]]) -> None:
    rng = np.random.default_rng(0)
    mixed = [rng.permutation(rows) for rows in said[FEW]]
    assert wrong(heard(mixed, HELD_OUT[FEW])) > BROKEN
