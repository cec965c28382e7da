"""From slots of `near` to words and the wake word, with recognisers that follow a script."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.words.decoder import WordDecoder, WordsNews
from appliance.hear.words.feed import KeywordFeed
from appliance.hear.words.interfaces import BEFORE_FRAMES, WordHypothesis
from appliance.messages.hearing import WakeWordHeard, WordsHeard
from appliance.pcm import BLOCK_FRAMES, Samples
from appliance.settings import load_defaults

LISTS = load_defaults().hearing.words
INDEX = 5_000_000


class Scripted:
    """A recogniser that says the n-th text once it has heard so many milliseconds of the sound."""

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


class Wakes:
    """A spotter that knows one sample value for its phrase."""

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


def said(understanding: WordDecoder, near: KeywordFeed, turns: list[int]) -> list[WordsNews]:
    out = []
    for n, turn in enumerate(turns):
        samples = np.full(BLOCK_FRAMES, 99 if turn == -1 else 1, np.int16)
        for piece in near.process(samples, INDEX + n * BLOCK_FRAMES, max(0, turn)):
            out += understanding.process(piece.samples, piece.at, piece.turn, piece.flags)
    return out


def busy() -> KeywordFeed:
    near = KeywordFeed()
    near.busy = True
    return near


def test_a_word_is_told_once_it_is_understood_and_again_only_when_that_changes() -> None:
    scripted = Scripted((250, "stop"), (500, "stop the music"))
    told = said(WordDecoder(LISTS, scripted, None), busy(), [0] * 70 + [7] * 200 + [0])
    assert [(m.serial, m.text, m.kind) for m in told if isinstance(m, WordsHeard)] == [
        (7, "stop", "yield"),
        (7, "stop", "stop"),  # heard twice
        (7, "stop the music", "yield"),
    ]
    ages = [m.age_ms for m in told if isinstance(m, WordsHeard)]
    assert 250 <= ages[0] <= 400
    assert 500 <= ages[2] <= 650


def test_at_rest_it_hears_the_wake_word_and_nothing_else_and_begins_with_the_next_sound() -> None:
    understanding = WordDecoder(LISTS, Scripted((100, "stop")), Wakes())
    understanding.waiting = True
    near = busy()
    near.waiting = True
    understanding.rests = True
    assert [
        m for m in said(understanding, near, [0] * 70 + [-1] * 4) if isinstance(m, WakeWordHeard)
    ]
    understanding.rests = False
    first = said(understanding, near, [7] * 20)
    understanding.rests = True
    resting = said(understanding, near, [7] * 20)
    understanding.rests = False
    rest_of_it = said(understanding, near, [7] * 100)
    after = said(understanding, near, [0] * 70 + [8] * 200 + [0])
    assert not [m for m in (*first, *resting, *rest_of_it) if isinstance(m, WordsHeard)]
    assert {m.serial for m in after if isinstance(m, WordsHeard)} == {8}


@pytest.mark.parametrize(
    ("script", "kinds"),
    [
        (((300, "be quiet"), (420, "the sea")), ["yield", "other"]),
        (((300, "be quiet"),), ["yield", "stop"]),
    ],
)
def test_a_stop_that_is_taken_back_in_the_middle_of_a_word_never_was_one(
    script: tuple[tuple[int, str], ...], kinds: list[str]
) -> None:
    understanding = WordDecoder(LISTS, Scripted(*script), None)
    told = said(understanding, busy(), [0] * 70 + [7] * 200 + [0])
    assert [m.kind for m in told if isinstance(m, WordsHeard)] == kinds


def test_what_goes_on_for_long_is_no_mere_stop() -> None:
    told = said(WordDecoder(LISTS, Scripted((250, "stop")), None), busy(), [0] * 70 + [7] * 450)
    kinds = [m.kind for m in told if isinstance(m, WordsHeard)]
    assert kinds == ["yield", "stop", "yield"]


def test_a_stop_stays_one_in_the_longest_silence_that_may_follow_it() -> None:
    understanding = WordDecoder(LISTS, Scripted((250, "stop")), None, silence_ms=1200)
    told = said(understanding, busy(), [0] * 70 + [7] * 450 + [0])
    assert [m.kind for m in told if isinstance(m, WordsHeard)] == ["yield", "stop"]


def test_a_stop_that_nobody_is_sure_of_is_no_mere_stop() -> None:
    class Unsure(Scripted):
        def hypothesis(self) -> WordHypothesis:
            return WordHypothesis(super().hypothesis().text, 0.15)

    told = said(WordDecoder(LISTS, Unsure((250, "stop")), None), busy(), [0] * 70 + [7] * 100)
    assert [m.kind for m in told if isinstance(m, WordsHeard)] == ["yield"]


def test_what_was_not_understood_is_not_told() -> None:
    assert said(WordDecoder(LISTS, Scripted(), None), busy(), [0] * 70 + [7] * 200 + [0]) == []


def test_a_word_that_turns_out_to_be_none_is_taken_back() -> None:
    scripted = Scripted((200, "yeah"), (400, ""))
    told = said(WordDecoder(LISTS, scripted, None), busy(), [0] * 70 + [7] * 200 + [0])
    assert [m.text for m in told if isinstance(m, WordsHeard)] == ["yeah", ""]


def test_a_short_sound_is_asked_about_at_its_end() -> None:
    told = said(WordDecoder(LISTS, Scripted((50, "no")), None), busy(), [0] * 70 + [7] * 12 + [0])
    assert [m.text for m in told if isinstance(m, WordsHeard)] == ["no"]


def test_each_sound_is_understood_by_itself() -> None:
    scripted = Scripted((100, "no"))
    turns = [0] * 70 + [7] * 60 + [0] * 80 + [8] * 60 + [0]
    told = said(WordDecoder(LISTS, scripted, None), busy(), turns)
    assert [m.serial for m in told if isinstance(m, WordsHeard)] == [7, 8]


def test_the_wake_word_is_told_with_its_end() -> None:
    understanding = WordDecoder(LISTS, None, Wakes())
    understanding.waiting = True
    near = KeywordFeed()
    near.waiting = True
    told = said(understanding, near, [0] * 50 + [-1] + [0] * 50)
    assert told == [WakeWordHeard(INDEX + 51 * BLOCK_FRAMES - 160, "hey box", 0.8)]


def test_nobody_is_woken_in_another_mode() -> None:
    near = KeywordFeed()
    near.waiting = True
    assert said(WordDecoder(LISTS, None, Wakes()), near, [0] * 50 + [-1]) == []


def test_the_spotter_hears_each_sample_once_where_a_sound_comes_with_its_past() -> None:
    spotter = Wakes()
    understanding = WordDecoder(LISTS, Scripted(), spotter)
    understanding.waiting = True
    near = busy()
    near.waiting = True
    said(understanding, near, [0] * 100 + [7] * 50 + [0] * 50)
    assert (spotter.heard, spotter.resets) == (200 * BLOCK_FRAMES, 1)
