"""The recognisers that carry their models, on words and phrases by espeak-ng."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.hear.words import phrases
from appliance.hear.words.interfaces import WakeWordSpotter
from appliance.hear.words.microwakeword_backend import PHRASES, MicroWakeWordSpotter
from appliance.hear.words.pocketsphinx_backend import PocketsphinxRecogniser, PocketsphinxWakeWord
from appliance.pcm import RATE_HZ, Samples, from_float
from appliance.settings import load_defaults
from tests.hear.arena import ANSWER, at_level, say

LISTS = load_defaults().hearing.words
QUIET = RATE_HZ // 3


@pytest.fixture(scope="module")
def words() -> PocketsphinxRecogniser:
    return PocketsphinxRecogniser((*LISTS.yields, *LISTS.stop, *LISTS.carry_on))


def sound(text: str, voice: str = "en-us", speed: int = 160) -> Samples:
    spoken = at_level(say(text, voice, speed))
    wave = np.concatenate([np.zeros(QUIET), spoken, np.zeros(QUIET)])
    return from_float(wave + np.random.default_rng(0).normal(0, 3e-4, len(wave)))


# ── words ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("wait", {"yield"}),
        ("be quiet", {"stop"}),
        ("yeah", {"carry_on"}),
        ("right", {"carry_on"}),
        ("coffee", {"other"}),
    ],
)
def test_a_phrase_is_heard_as_of_its_list(
    words: PocketsphinxRecogniser, text: str, kinds: set[str]
) -> None:
    words.start()
    words.process(sound(text))
    guess = words.hypothesis()
    assert phrases.kind_of(guess.text, LISTS) in kinds, guess
    assert 0.0 < guess.sure <= 1.0


def test_silence_says_nothing(words: PocketsphinxRecogniser) -> None:
    words.start()
    assert words.hypothesis() == ("", 0.0)
    words.process(np.zeros(RATE_HZ, np.int16))
    assert words.hypothesis().text == ""


def test_the_words_of_the_default_lists_are_all_known(words: PocketsphinxRecogniser) -> None:
    assert words.unknown == ()


def test_a_word_that_is_in_no_dictionary_is_named_and_left_out() -> None:
    some = PocketsphinxRecogniser(("wait", "xyzzy"))
    assert some.unknown == ("xyzzy",)
    some.process(sound("wait"))
    assert some.hypothesis().text == "wait"


# ── the wake word ────────────────────────────────────────────────────────────────────────────
def heard_at(spotter: WakeWordSpotter, samples: Samples) -> list[int]:
    return [at for at in range(0, len(samples), 480) if spotter.process(samples[at : at + 480])]


@pytest.mark.parametrize("text", ["okay nahboo", "alexa"])
def test_a_wake_word_is_heard_once_and_soon(text: str) -> None:
    spotter = MicroWakeWordSpotter({"okay nahboo": "okay nabu"}.get(text, text))
    said = sound(text)
    once = np.concatenate([said, np.zeros(RATE_HZ, np.int16)])
    [at] = heard_at(spotter, once)
    assert QUIET < at < len(said) - QUIET + RATE_HZ // 2


def test_an_answer_wakes_nobody() -> None:
    answer = from_float(at_level(say(ANSWER)))
    for phrase in PHRASES:
        assert heard_at(MicroWakeWordSpotter(phrase), answer) == []


def test_a_spotter_is_as_good_after_a_gap() -> None:
    spotter = MicroWakeWordSpotter("alexa")
    assert len(heard_at(spotter, sound("alexa"))) == 1
    spotter.reset()
    assert len(heard_at(spotter, sound("alexa"))) == 1


def test_the_owners_own_phrase_wakes_and_another_does_not() -> None:
    spotter = PocketsphinxWakeWord("hey interlude", sensitivity=1.0)
    assert heard_at(spotter, sound("what is the weather like tomorrow")) == []
    woken = []
    for voice in ("en-us+klatt2", "en-us+klatt4", "en-us", "en-us+f3", "en-gb", "en-us+m3"):
        spotter.reset()
        woken.append(len(heard_at(spotter, sound("hey interlude", voice))))
    assert 1 in woken  # most synthetic voices it does not understand
    assert max(woken) == 1


def test_a_wake_word_of_no_language_is_refused() -> None:
    with pytest.raises(ModelError, match="xyzzy"):
        PocketsphinxWakeWord("hey xyzzy")
