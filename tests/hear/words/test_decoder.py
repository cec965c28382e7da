"""The decoder turns slots of `near` into words and the wake word; recognisers are scripted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from appliance.hear.words.decoder import WordDecoder, WordsNews
from appliance.hear.words.feed import KeywordFeed
from appliance.hear.words.interfaces import BEFORE_FRAMES, WordHypothesis
from appliance.messages.hearing import WakeWordHeard, WordsHeard
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from appliance.settings import load_defaults

LISTS = load_defaults().hearing.words
INDEX = 5_000_000


class Scripted:
    """A recogniser whose script gives its text after so many milliseconds of the sound."""

    name = "scripted"
    unknown: tuple[str, ...] = ()

    def __init__(self, *script: tuple[int, str]) -> None:
        self._script = script
        self.heard: list[Samples] = []

    def start(self) -> None:
        self.heard = []

    def process(self, samples: Samples) -> None:
        self.heard.append(samples)

    def hypothesis(self) -> WordHypothesis:
        frames = sum(map(len, self.heard)) - BEFORE_FRAMES
        texts = [text for after_ms, text in self._script if frames >= after_ms * 16]
        return WordHypothesis(texts[-1] if texts else "", 0.9)


class ScriptedSpotter:
    """A spotter that detects its phrase at one sample value."""

    name, phrase, late_frames = "scripted", "hey box", 160
    score = threshold = 0.0

    def __init__(self) -> None:
        self.heard = 0
        self.resets = 0

    def process(self, samples: Samples) -> float | None:
        self.heard += len(samples)
        return 0.8 if 99 in samples else None

    def reset(self) -> None:
        self.resets += 1


def decode(decoder: WordDecoder, near: KeywordFeed, turns: list[int]) -> list[WordsNews]:
    out = []
    for n, turn in enumerate(turns):
        samples = np.full(BLOCK_FRAMES, 99 if turn == -1 else 1, np.int16)
        for piece in near.process(samples, INDEX + n * BLOCK_FRAMES, max(0, turn)):
            out += decoder.process(piece.samples, piece.at, piece.turn, piece.flags)
    return out


def busy() -> KeywordFeed:
    near = KeywordFeed()
    near.busy = True
    return near


def test_a_word_is_reported_once_and_again_only_when_it_changes() -> None:
    scripted = Scripted((250, "stop"), (500, "stop the music"))
    news = decode(WordDecoder(LISTS, scripted, None), busy(), [0] * 70 + [7] * 200 + [0])
    assert [(m.serial, m.text, m.kind) for m in news if isinstance(m, WordsHeard)] == [
        (7, "stop", "yield"),
        (7, "stop", "stop"),  # the same text in two consecutive results
        (7, "stop the music", "yield"),
    ]
    ages = [m.age_ms for m in news if isinstance(m, WordsHeard)]
    assert 250 <= ages[0] <= 400
    assert 500 <= ages[2] <= 650


def test_at_rest_only_the_wake_word_is_spotted_and_words_resume_with_the_next_sound() -> None:
    decoder = WordDecoder(LISTS, Scripted((100, "stop")), ScriptedSpotter())
    decoder.waiting = True
    near = busy()
    near.waiting = True
    decoder.rests = True
    assert [m for m in decode(decoder, near, [0] * 70 + [-1] * 4) if isinstance(m, WakeWordHeard)]
    decoder.rests = False
    first = decode(decoder, near, [7] * 20)
    decoder.rests = True
    resting = decode(decoder, near, [7] * 20)
    decoder.rests = False
    rest_of_it = decode(decoder, near, [7] * 100)
    after = decode(decoder, near, [0] * 70 + [8] * 200 + [0])
    assert not [m for m in (*first, *resting, *rest_of_it) if isinstance(m, WordsHeard)]
    assert {m.serial for m in after if isinstance(m, WordsHeard)} == {8}


@pytest.mark.parametrize(
    ("script", "kinds"),
    [
        (((300, "be quiet"), (420, "the sea")), ["yield", "other"]),
        (((300, "be quiet"),), ["yield", "stop"]),
    ],
)
def test_a_stop_that_becomes_another_word_is_never_reported_as_a_stop(
    script: tuple[tuple[int, str], ...], kinds: list[str]
) -> None:
    decoder = WordDecoder(LISTS, Scripted(*script), None)
    news = decode(decoder, busy(), [0] * 70 + [7] * 200 + [0])
    assert [m.kind for m in news if isinstance(m, WordsHeard)] == kinds


def test_a_long_sound_after_a_stop_is_no_longer_a_stop() -> None:
    news = decode(WordDecoder(LISTS, Scripted((250, "stop")), None), busy(), [0] * 70 + [7] * 450)
    kinds = [m.kind for m in news if isinstance(m, WordsHeard)]
    assert kinds == ["yield", "stop", "yield"]


def test_a_stop_remains_one_during_the_longest_turn_end_silence() -> None:
    decoder = WordDecoder(LISTS, Scripted((250, "stop")), None, silence_ms=1200)
    news = decode(decoder, busy(), [0] * 70 + [7] * 450 + [0])
    assert [m.kind for m in news if isinstance(m, WordsHeard)] == ["yield", "stop"]


@pytest.mark.parametrize(("text", "sure"), [("stop", 0.15), ("pardon", 0.65)])
def test_an_uncertain_stop_or_pardon_is_only_a_yield(text: str, sure: float) -> None:
    class Unsure(Scripted):
        def hypothesis(self) -> WordHypothesis:
            return WordHypothesis(super().hypothesis().text, sure)

    news = decode(WordDecoder(LISTS, Unsure((250, text)), None), busy(), [0] * 70 + [7] * 100)
    assert [m.kind for m in news if isinstance(m, WordsHeard)] == ["yield"]


def test_a_pardon_is_reported_at_once_and_no_longer_once_more_was_said() -> None:
    scripted = Scripted((250, "pardon"), (500, "pardon the noise"))
    news = decode(WordDecoder(LISTS, scripted, None), busy(), [0] * 70 + [7] * 200 + [0])
    kinds = [m.kind for m in news if isinstance(m, WordsHeard)]
    assert kinds == ["repeat", "yield"]


def test_nothing_recognised_is_not_reported() -> None:
    assert decode(WordDecoder(LISTS, Scripted(), None), busy(), [0] * 70 + [7] * 200 + [0]) == []


def test_a_word_that_disappears_is_retracted() -> None:
    scripted = Scripted((200, "yeah"), (400, ""))
    news = decode(WordDecoder(LISTS, scripted, None), busy(), [0] * 70 + [7] * 200 + [0])
    assert [m.text for m in news if isinstance(m, WordsHeard)] == ["yeah", ""]


def test_a_short_sound_is_recognised_at_its_end() -> None:
    news = decode(WordDecoder(LISTS, Scripted((50, "no")), None), busy(), [0] * 70 + [7] * 12 + [0])
    assert [m.text for m in news if isinstance(m, WordsHeard)] == ["no"]


def test_each_sound_is_recognised_separately() -> None:
    scripted = Scripted((100, "no"))
    turns = [0] * 70 + [7] * 60 + [0] * 80 + [8] * 60 + [0]
    news = decode(WordDecoder(LISTS, scripted, None), busy(), turns)
    assert [m.serial for m in news if isinstance(m, WordsHeard)] == [7, 8]


def test_the_wake_word_is_reported_with_the_index_of_its_end() -> None:
    decoder = WordDecoder(LISTS, None, ScriptedSpotter())
    decoder.waiting = True
    near = KeywordFeed()
    near.waiting = True
    news = decode(decoder, near, [0] * 50 + [-1] + [0] * 50)
    assert news == [WakeWordHeard(INDEX + 51 * BLOCK_FRAMES - 160, "hey box", 0.8)]


def test_the_wake_word_is_not_reported_in_another_mode() -> None:
    near = KeywordFeed()
    near.waiting = True
    assert decode(WordDecoder(LISTS, None, ScriptedSpotter()), near, [0] * 50 + [-1]) == []


def test_the_spotter_gets_each_sample_once_although_sounds_include_their_past() -> None:
    spotter = ScriptedSpotter()
    decoder = WordDecoder(LISTS, Scripted(), spotter)
    decoder.waiting = True
    near = busy()
    near.waiting = True
    decode(decoder, near, [0] * 100 + [7] * 50 + [0] * 50)
    assert (spotter.heard, spotter.resets) == (200 * BLOCK_FRAMES, 1)


def test_a_long_sound_is_decoded_rarely_once_its_verdict_is_due() -> None:
    class Counted(Scripted):
        def hypothesis(self) -> WordHypothesis:
            lengths.append((sum(map(len, self.heard)) - BEFORE_FRAMES) * 1000 // RATE_HZ)
            return super().hypothesis()

    lengths: list[int] = []
    decode(WordDecoder(LISTS, Counted(), None), busy(), [0] * 70 + [7] * 600 + [0])
    early = [at for at in lengths if at <= 700]
    assert len(early) == 5
    assert early[0] == 200
    late = [later - at for at, later in pairwise(lengths[5:-1])]  # the last is its end
    assert set(late) == {360}
    assert sum(lengths) < 17_000  # ms of sound that are decoded for 3 s; 38,000 at 120 ms each
