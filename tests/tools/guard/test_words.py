"""What a word means in its clause."""

from __future__ import annotations

import pytest

from appliance.tools.guard.lexicon import Tag
from appliance.tools.guard.reading import lexicon
from appliance.tools.guard.words import Word, tag_words


def tagged(text: str) -> dict[str, Word]:
    return {word.text: word for word in tag_words(tuple(text.split()), lexicon())}


@pytest.mark.parametrize(
    ("text", "word", "tag", "has"),
    [
        ("lock the door", "lock", Tag.CLOSE, True),
        ("please lock the door", "lock", Tag.CLOSE, True),
        ("turn off the door lock", "lock", Tag.CLOSE, False),
        ("turn off the door lock", "lock", Tag.LOCK, True),
        ("mach die tuer auf", "auf", Tag.OPEN, True),
        ("mach die tuer auf bitte", "auf", Tag.OPEN, True),
        ("stell das licht auf dreissig", "auf", Tag.OPEN, False),
        ("mach die tuer zu", "zu", Tag.CLOSE, True),
        ("ich bin zu hause", "zu", Tag.CLOSE, False),
        ("sperr die tuer ab", "ab", Tag.CLOSE, True),
        ("schalt die kamera ab", "ab", Tag.CLOSE, False),
        ("turn on the alarm", "on", Tag.ON, True),
        ("the camera on the roof", "on", Tag.ON, False),
        ("lock the door up", "up", Tag.RAISE, False),
        ("blinds up", "up", Tag.RAISE, True),
        ("don t close it", "t", Tag.NOT, True),
        ("bring the awning in", "in", Tag.RETRACT, True),
    ],
)
def test_a_word_has_its_meaning_by_its_place(text: str, word: str, tag: Tag, has: bool) -> None:
    assert tagged(text)[word].has(tag) == has


@pytest.mark.parametrize(
    ("text", "word", "guarded"),
    [
        ("turn on the garage light", "garage", False),
        ("turn on the garage ceiling light", "garage", False),
        ("turn on the garage", "garage", True),
        ("open the garage door", "garage", False),
        ("open the garage door", "door", True),
        ("the lamp at the old front door", "door", False),
        ("wait at the door", "door", True),
        ("the bolt on the cellar door", "bolt", True),
        ("set the alarm for seven", "alarm", False),
        ("arm the alarm at seven", "alarm", True),
        ("turn off the alarm at seven", "alarm", True),
        ("turn off my seven oclock alarm", "alarm", False),
    ],
)
def test_a_thing_counts_unless_it_is_a_place_a_first_part_or_an_alarm_clock(
    text: str, word: str, guarded: bool
) -> None:
    assert tagged(text)[word].guarded == guarded
