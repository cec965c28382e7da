"""Modes, the talk button and the wake word in hearing: who is listened to, and from where."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.pipeline import HearingEvent, HearingPipeline
from appliance.hear.utterance_stream import SpeechSlot
from appliance.messages.hearing import (
    Onset,
    SetListening,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WordsHeard,
)
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, from_float
from appliance.settings import HearingSettings
from tests.hear.arena import Wave, at_level, say

INDEX = 1_000_000
SILENCE = np.zeros(RATE_HZ)
QUESTION = at_level(say("what time is it"))


class Listener:
    """Hearing, and all that it has said."""

    def __init__(
        self, settings: HearingSettings, how: SetListening, answering: bool = False
    ) -> None:
        self.hearing = HearingPipeline(settings)
        self.hearing.answering = answering
        self.events: list[HearingEvent] = list(self.hearing.set_listening(how))
        self.at = INDEX

    def hears(self, *sounds: Wave) -> None:
        noise = np.random.default_rng(1)
        wave = np.concatenate(sounds)
        mic = from_float(wave + noise.normal(0, 2e-4, len(wave)))
        for start in range(0, len(mic) - BLOCK_FRAMES + 1, BLOCK_FRAMES):
            block = mic[start : start + BLOCK_FRAMES]
            self.events += self.hearing.process(block, np.zeros(BLOCK_FRAMES, np.int16), self.at)
            self.at += BLOCK_FRAMES

    def told(self, how: SetListening) -> None:
        self.events += self.hearing.set_listening(how)

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events if not isinstance(event, SpeechSlot)]

    def only(self, kind: type[Onset | SpeechStarted | SpeechEnded]) -> HearingEvent:
        [event] = [event for event in self.events if isinstance(event, kind)]
        return event

    def sound(self) -> tuple[int, int]:
        """The card's index of the utterance's first sample, and how long it is."""
        chunks = [event for event in self.events if isinstance(event, SpeechSlot)]
        return chunks[0].index, sum(len(chunk.samples) for chunk in chunks)


# ── attending or not ─────────────────────────────────────────────────────────────────────────
def test_a_box_that_attends_hears_a_question(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(True))
    box.hears(SILENCE, QUESTION, SILENCE)
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]


def test_a_box_that_does_not_attend_tells_nobody(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    box.hears(SILENCE, QUESTION, SILENCE)
    assert box.events == []


@pytest.mark.parametrize("over_box", [True, False])
def test_speech_over_the_answer_counts_only_where_the_mode_says_so(
    settings: HearingSettings, over_box: bool
) -> None:
    box = Listener(settings, SetListening(False, over_box=over_box), answering=True)
    box.hears(SILENCE, QUESTION, SILENCE)
    assert bool(box.events) == over_box


def test_an_utterance_under_way_comes_to_its_own_end(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(True))
    middle = len(QUESTION) // 2
    box.hears(SILENCE, QUESTION[:middle])
    box.told(SetListening(False))
    box.hears(QUESTION[middle:], SILENCE, QUESTION, SILENCE)
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]


# ── the talk button ──────────────────────────────────────────────────────────────────────────
def test_a_press_begins_the_utterance_and_its_end_ends_it_at_once(
    settings: HearingSettings,
) -> None:
    box = Listener(settings, SetListening(False))
    box.hears(SILENCE)
    pressed_at = box.at
    box.told(SetListening(True, held=True))
    assert box.kinds() == ["Onset", "SpeechStarted"]
    box.hears(QUESTION, SILENCE, QUESTION)  # a pause of a second is no end
    assert box.kinds() == ["Onset", "SpeechStarted"]
    box.told(SetListening(False))
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]
    ended = box.only(SpeechEnded)
    assert isinstance(ended, SpeechEnded)
    first, frames = box.sound()
    assert first == pressed_at - settings.turn.preroll_ms * 16
    assert frames == ended.frames > 2 * len(QUESTION)
    assert ended.last


def test_what_was_said_just_before_the_press_is_in_it(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    early = RATE_HZ // 5
    box.hears(SILENCE, QUESTION[:early])
    box.told(SetListening(True, held=True))
    box.hears(QUESTION[early:], SILENCE)
    box.told(SetListening(False))
    assert box.sound()[0] <= INDEX + RATE_HZ


def test_a_press_without_a_word_has_no_frames(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    box.hears(SILENCE)
    box.told(SetListening(True, held=True))
    box.hears(SILENCE)
    box.told(SetListening(False))
    ended = box.only(SpeechEnded)
    assert isinstance(ended, SpeechEnded)
    assert (ended.frames, ended.last) == (0, True)


def test_a_press_while_the_owner_murmurs_over_the_answer_is_an_interruption(
    settings: HearingSettings,
) -> None:
    box = Listener(settings, SetListening(True), answering=True)
    box.hears(SILENCE, QUESTION[: RATE_HZ // 10])
    assert box.kinds()[0] == "Onset"
    box.told(SetListening(True, held=True))
    box.hears(QUESTION, SILENCE)
    box.told(SetListening(False))
    verdicts = [event.kind for event in box.events if isinstance(event, Verdict)]
    assert verdicts == ["interruption"]
    assert box.kinds()[-2:] == ["SpeechStarted", "SpeechEnded"]


# ── the wake word ────────────────────────────────────────────────────────────────────────────
WORD = at_level(say("okay nabu"))


def test_a_question_in_one_breath_with_the_wake_word_begins_after_it(
    settings: HearingSettings,
) -> None:
    box = Listener(settings, SetListening(False))
    late = RATE_HZ // 4  # so late the spotter knows of it
    box.hears(SILENCE, WORD, QUESTION[:late])
    woken_at = INDEX + RATE_HZ + len(WORD)
    box.told(SetListening(True, since=woken_at))
    box.hears(QUESTION[late:], SILENCE)
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]
    first, frames = box.sound()
    assert woken_at <= first <= woken_at + RATE_HZ // 10
    assert frames >= len(QUESTION) - RATE_HZ // 10


def test_after_the_wake_word_the_owner_may_take_a_breath(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    late = np.zeros(RATE_HZ // 4)
    box.hears(SILENCE, WORD, late)
    box.told(SetListening(True, since=INDEX + RATE_HZ + len(WORD) + RATE_HZ // 10))
    box.hears(SILENCE, QUESTION, SILENCE)
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]


def test_no_part_of_the_wake_word_is_in_the_question(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    box.hears(SILENCE, WORD)
    woken_at = INDEX + RATE_HZ + len(WORD) - RATE_HZ // 20  # while its last sound still lasts
    box.told(SetListening(True, since=woken_at))
    box.hears(QUESTION, SILENCE)
    assert box.sound()[0] >= woken_at


def test_one_wake_word_wakes_once(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    box.hears(SILENCE, WORD, QUESTION, SILENCE)
    how = SetListening(True, since=INDEX + RATE_HZ + len(WORD))
    box.told(how)
    box.hears(SILENCE)
    events = list(box.events)
    box.told(SetListening(True, "a conversation", since=how.since))
    assert box.events == events


# ── words ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("kind", "verdict"), [("yield", "interruption"), ("carry_on", "other")])
def test_words_in_time_move_the_verdict(settings: HearingSettings, kind: str, verdict: str) -> None:
    box = Listener(settings, SetListening(True), answering=True)
    sound = at_level(say("yes"))
    box.hears(SILENCE, sound[: RATE_HZ // 5])
    onset = box.only(Onset)
    assert isinstance(onset, Onset)
    text = {"yield": "wait", "carry_on": "yes"}[kind]
    for _ in range(2):  # the same news again adds nothing
        words = WordsHeard(onset.serial, 200, text, kind)  # type: ignore[arg-type]  # by name
        box.hearing.on_words(words)
    box.hears(sound[RATE_HZ // 5 :], SILENCE)
    [judged] = [event.kind for event in box.events if isinstance(event, Verdict)]
    assert (judged == "interruption") == (verdict == "interruption")


def test_words_of_another_sound_change_nothing(settings: HearingSettings) -> None:
    def verdicts(serial: int) -> list[HearingEvent]:
        box = Listener(settings, SetListening(True), answering=True)
        sound = at_level(say("right"))
        box.hears(SILENCE, sound[: RATE_HZ // 5])
        if serial:
            box.hearing.on_words(WordsHeard(serial, 200, "wait", "yield"))
        box.hears(sound[RATE_HZ // 5 :], SILENCE)
        return [event for event in box.events if not isinstance(event, SpeechSlot)]

    assert verdicts(99) == verdicts(0)
