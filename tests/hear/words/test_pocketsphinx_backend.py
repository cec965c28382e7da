"""Pocketsphinx recognises the owner's phrases and any wake word, spoken by espeak-ng."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.hear.words import phrases
from appliance.hear.words.pocketsphinx_backend import PocketsphinxRecogniser, PocketsphinxWakeWord
from appliance.pcm import RATE_HZ
from appliance.settings import load_defaults
from tests.hear.words.spoken import heard_at, sound

LISTS = load_defaults().hearing.words


@pytest.fixture(scope="module")
def words() -> PocketsphinxRecogniser:
    return PocketsphinxRecogniser((*LISTS.yields, *LISTS.stop, *LISTS.repeat, *LISTS.carry_on))


# ── words ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("wait", {"yield"}),
        ("be quiet", {"stop"}),
        ("what did you say", {"repeat"}),
        ("yeah", {"carry_on"}),
        ("right", {"carry_on"}),
        ("coffee", {"other"}),
    ],
)
def test_a_phrase_is_recognised_with_the_kind_of_its_list(
    words: PocketsphinxRecogniser, text: str, kinds: set[str]
) -> None:
    words.start()
    words.process(sound(text))
    guess = words.hypothesis()
    assert phrases.kind_of(guess.text, LISTS) in kinds, guess
    assert 0.0 < guess.sure <= 1.0


def test_silence_has_no_text(words: PocketsphinxRecogniser) -> None:
    words.start()
    assert words.hypothesis() == ("", 0.0)
    words.process(np.zeros(RATE_HZ, np.int16))
    assert words.hypothesis().text == ""


def test_the_words_of_the_default_lists_are_all_known(words: PocketsphinxRecogniser) -> None:
    assert words.unknown == ()


def test_a_word_outside_the_dictionary_is_reported_and_ignored() -> None:
    some = PocketsphinxRecogniser(("wait", "xyzzy"))
    assert some.unknown == ("xyzzy",)
    some.process(sound("wait"))
    assert some.hypothesis().text == "wait"


# ── the wake word ────────────────────────────────────────────────────────────────────────────
@pytest.mark.long
def test_the_owners_phrase_is_detected_and_another_is_not() -> None:
    spotter = PocketsphinxWakeWord("hey interlude", sensitivity=1.0)
    assert heard_at(spotter, sound("what is the weather like tomorrow")) == []
    woken = []
    for voice in ("en-us+klatt2", "en-us+klatt4", "en-us", "en-us+f3", "en-gb", "en-us+m3"):
        spotter.reset()
        woken.append(len(heard_at(spotter, sound("hey interlude", voice))))
    assert 1 in woken  # it does not recognise most synthetic voices
    assert max(woken) == 1


def test_a_wake_word_outside_the_dictionary_is_refused() -> None:
    with pytest.raises(ModelError, match="xyzzy"):
        PocketsphinxWakeWord("hey xyzzy")
