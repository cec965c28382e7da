"""The positions of words in a sentence's sound, and their form in messages."""

from __future__ import annotations

import pytest

from appliance.voice.protocol import EngineSound
from appliance.voice.spoken_words import SpeechMarks, SpokenWord, WordBegins, heard_after


def test_positions_count_from_the_start_of_the_sentence_at_the_boxs_rate() -> None:
    marks = SpeechMarks(rate_hz=8_000)
    marks.add(EngineSound(1, 100, 0, 4, ((0, 4, 10, 120),)))
    marks.add(EngineSound(1, 100, 5, 9, ((5, 9, 50),)))
    assert marks.words(0) == [SpokenWord(0, 4, 20, 240), SpokenWord(5, 9, 300, 400)]
    assert marks.parts(0) == [SpokenWord(0, 4, 0, 200), SpokenWord(5, 9, 200, 400)]


def test_a_word_without_an_end_lasts_until_the_next_word() -> None:
    marks = SpeechMarks(rate_hz=16_000)
    for words in (((0, 3, 0),), (), ((4, 8, 30),), ()):
        marks.add(EngineSound(1, 100, words=words))
    assert marks.words(0) == [SpokenWord(0, 3, 0, 230), SpokenWord(4, 8, 230, 400)]


def test_trimmed_silence_shifts_words_at_most_to_the_start() -> None:
    marks = SpeechMarks(rate_hz=16_000)
    marks.add(EngineSound(1, 500, words=((0, 2, 50), (3, 4, 300, 450))))
    assert marks.words(100) == [SpokenWord(0, 2, 0, 200), SpokenWord(3, 4, 200, 350)]
    assert marks.parts(100) == []  # the stretch has no text range


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ([], ()),
        ([SpokenWord(0, 3, 0, 10), SpokenWord(4, 6, 12, 20)], ((3, 10), (6, 20))),
        # The day is spoken before the month, which is written first.
        ([SpokenWord(5, 9, 0, 10), SpokenWord(0, 4, 12, 20)], ((9, 10), (9, 20))),
    ],
)
def test_the_reported_end_of_the_heard_text_only_grows(
    words: list[SpokenWord], reported: tuple[tuple[int, int], ...]
) -> None:
    assert heard_after(words, 100) == reported
    assert len(heard_after([SpokenWord(i, i + 1, i, i + 1) for i in range(9)], 4)) == 4


def test_a_piece_ends_where_the_next_word_begins() -> None:
    begins = WordBegins()
    for position in (0, 500, 500, 510):
        begins.add(position)
    assert begins.take(0, 320) == (True, 320)
    assert begins.take(320, 320) == (False, 180)
    assert begins.take(500, 320) == (True, 10)
    assert begins.take(600, 320) == (False, 320)  # a missed position is discarded
    begins.add(700)
    begins.clear()
    assert begins.take(700, 320) == (False, 320)
