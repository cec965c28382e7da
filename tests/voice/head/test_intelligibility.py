"""Intelligibility of the shipped head, by pocketsphinx, on answers that it was not trained on.

A head that makes meaningless sounds of the right timing, length and level passes all other tests.
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
from tests.voice.quick_judge import quick_judge

# The recogniser processes 20 s of speech, and twice 4 s of noise.
pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

HELD_OUT = tuple(head_answers.HELD_OUT[name] for name in ("italy", "where", "spider", "book"))
MOST_WRONG = 0.45  # share of the words; the shipped weights have far less
BROKEN = 0.8  # minimum for unintelligible sounds
FEW = slice(1, 2)  # answers to scramble: the recogniser is slowest on unintelligible sound


@pytest.fixture(scope="module")
def judge() -> VoiceJudge:
    return quick_judge()


@pytest.fixture(scope="module")
def head_codes() -> list[npt.NDArray[np.int64]]:
    """The head's codes for each text."""
    head, out = SpeechHead(SHIPPED), []
    for text in HELD_OUT:
        stream, states = head.begin(), recite(text).states
        stream.push(states[:, 1:], states[:, 0])
        stream.end()
        out.append(np.stack([frame.codes for frame in stream.frames()]))
    return out


def heard(
    judge: VoiceJudge, codes: list[npt.NDArray[np.int64]], texts: tuple[str, ...]
) -> list[tuple[int, int]]:
    """For each text: the number of words that the recogniser gets wrong, and of all words."""
    codec, counts = Codec(SHIPPED / "codec.json"), []
    for text, rows in zip(texts, codes, strict=True):
        samples, _ = codec.decode(rows, codec.start())
        slow = soxr.resample(samples, codec.rate_hz, RATE_HZ)
        sound: Samples = (32767 * slow.clip(-1, 1)).astype(np.int16)
        words = words_of(text)
        counts.append((wrong_words(words, judge.heard(sound)), len(words)))
    return counts


def wrong(counts: list[tuple[int, int]]) -> float:
    """The share of wrong words."""
    return sum(count for count, _ in counts) / sum(of for _, of in counts)


def test_held_out_answers_are_intelligible(
    judge: VoiceJudge, head_codes: list[npt.NDArray[np.int64]]
) -> None:
    counts = heard(judge, head_codes, HELD_OUT)
    assert wrong(counts) < MOST_WRONG
    assert wrong(counts[FEW]) < MOST_WRONG, "of the answers that are scrambled below"


def test_with_a_shuffled_codebook_nothing_is_intelligible(
    judge: VoiceJudge, head_codes: list[npt.NDArray[np.int64]]
) -> None:
    """The bound separates speech from meaningless sound."""
    shuffled = np.random.default_rng(0).permutation(2048)
    broken = [rows.copy() for rows in head_codes[FEW]]
    for rows in broken:
        rows[:, 0] = shuffled[rows[:, 0]]
    assert wrong(heard(judge, broken, HELD_OUT[FEW])) > BROKEN > MOST_WRONG


def test_frames_in_another_order_are_not_intelligible(
    judge: VoiceJudge, head_codes: list[npt.NDArray[np.int64]]
) -> None:
    rng = np.random.default_rng(0)
    mixed = [rng.permutation(rows) for rows in head_codes[FEW]]
    assert wrong(heard(judge, mixed, HELD_OUT[FEW])) > BROKEN
