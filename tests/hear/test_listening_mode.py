"""Listening modes, the talk button and the wake word decide which samples become an utterance."""

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
    """The hearing pipeline and all events that it has returned."""

    def __init__(
        self, settings: HearingSettings, mode: SetListening, answering: bool = False
    ) -> None:
        self.hearing = HearingPipeline(settings)
        self.hearing.answering = answering
        self.events: list[HearingEvent] = list(self.hearing.set_listening(mode))
        self.at = INDEX

    def feed(self, *sounds: Wave) -> None:
        noise = np.random.default_rng(1)
        wave = np.concatenate(sounds)
        mic = from_float(wave + noise.normal(0, 2e-4, len(wave)))
        for start in range(0, len(mic) - BLOCK_FRAMES + 1, BLOCK_FRAMES):
            block = mic[start : start + BLOCK_FRAMES]
            self.events += self.hearing.process(block, np.zeros(BLOCK_FRAMES, np.int16), self.at)
            self.at += BLOCK_FRAMES

    def set_mode(self, mode: SetListening) -> None:
        self.events += self.hearing.set_listening(mode)

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events if not isinstance(event, SpeechSlot)]

    def only(self, kind: type[Onset | SpeechStarted | SpeechEnded]) -> HearingEvent:
        [event] = [event for event in self.events if isinstance(event, kind)]
        return event

    def sound(self) -> tuple[int, int]:
        """The card's index of the utterance's first sample, and its length in samples."""
        chunks = [event for event in self.events if isinstance(event, SpeechSlot)]
        return chunks[0].index, sum(len(chunk.samples) for chunk in chunks)


# ── attending or not ─────────────────────────────────────────────────────────────────────────
def test_an_attending_box_hears_a_question(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(True))
    box.feed(SILENCE, QUESTION, SILENCE)
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]


def test_a_box_that_does_not_attend_emits_no_events(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    box.feed(SILENCE, QUESTION, SILENCE)
    assert box.events == []


@pytest.mark.parametrize("over_box", [True, False])
def test_speech_over_the_answer_counts_only_where_the_mode_says_so(
    settings: HearingSettings, over_box: bool
) -> None:
    box = Listener(settings, SetListening(False, over_box=over_box), answering=True)
    box.feed(SILENCE, QUESTION, SILENCE)
    assert bool(box.events) == over_box


def test_an_utterance_under_way_is_completed_after_a_mode_change(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(True))
    middle = len(QUESTION) // 2
    box.feed(SILENCE, QUESTION[:middle])
    box.set_mode(SetListening(False))
    box.feed(QUESTION[middle:], SILENCE, QUESTION, SILENCE)
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]


# ── the talk button ──────────────────────────────────────────────────────────────────────────
def test_a_press_starts_the_utterance_and_its_release_ends_it_at_once(
    settings: HearingSettings,
) -> None:
    box = Listener(settings, SetListening(False))
    box.feed(SILENCE)
    pressed_at = box.at
    box.set_mode(SetListening(True, held=True))
    assert box.kinds() == ["Onset", "SpeechStarted"]
    box.feed(QUESTION, SILENCE, QUESTION)  # a pause of a second does not end it
    assert box.kinds() == ["Onset", "SpeechStarted"]
    box.set_mode(SetListening(False))
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]
    ended = box.only(SpeechEnded)
    assert isinstance(ended, SpeechEnded)
    first, frames = box.sound()
    assert first == pressed_at - settings.turn.preroll_ms * 16
    assert frames == ended.frames > 2 * len(QUESTION)
    assert ended.last


def test_speech_just_before_the_press_is_included(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    early = RATE_HZ // 5
    box.feed(SILENCE, QUESTION[:early])
    box.set_mode(SetListening(True, held=True))
    box.feed(QUESTION[early:], SILENCE)
    box.set_mode(SetListening(False))
    assert box.sound()[0] <= INDEX + RATE_HZ


def test_a_press_without_speech_has_no_frames(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    box.feed(SILENCE)
    box.set_mode(SetListening(True, held=True))
    box.feed(SILENCE)
    box.set_mode(SetListening(False))
    ended = box.only(SpeechEnded)
    assert isinstance(ended, SpeechEnded)
    assert (ended.frames, ended.last) == (0, True)


def test_a_press_while_the_owner_murmurs_over_the_answer_is_an_interruption(
    settings: HearingSettings,
) -> None:
    box = Listener(settings, SetListening(True), answering=True)
    box.feed(SILENCE, QUESTION[: RATE_HZ // 10])
    assert box.kinds()[0] == "Onset"
    box.set_mode(SetListening(True, held=True))
    box.feed(QUESTION, SILENCE)
    box.set_mode(SetListening(False))
    verdicts = [event.kind for event in box.events if isinstance(event, Verdict)]
    assert verdicts == ["interruption"]
    assert box.kinds()[-2:] == ["SpeechStarted", "SpeechEnded"]


# ── the wake word ────────────────────────────────────────────────────────────────────────────
WORD = at_level(say("okay nabu"))


def test_a_question_in_one_breath_with_the_wake_word_begins_after_it(
    settings: HearingSettings,
) -> None:
    box = Listener(settings, SetListening(False))
    late = RATE_HZ // 4  # delay of the spotter
    box.feed(SILENCE, WORD, QUESTION[:late])
    woken_at = INDEX + RATE_HZ + len(WORD)
    box.set_mode(SetListening(True, since=woken_at))
    box.feed(QUESTION[late:], SILENCE)
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]
    first, frames = box.sound()
    assert woken_at <= first <= woken_at + RATE_HZ // 10
    assert frames >= len(QUESTION) - RATE_HZ // 10


def test_a_pause_may_follow_the_wake_word(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    late = np.zeros(RATE_HZ // 4)
    box.feed(SILENCE, WORD, late)
    box.set_mode(SetListening(True, since=INDEX + RATE_HZ + len(WORD) + RATE_HZ // 10))
    box.feed(SILENCE, QUESTION, SILENCE)
    assert box.kinds() == ["Onset", "SpeechStarted", "SpeechEnded"]


def test_no_part_of_the_wake_word_is_in_the_question(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    box.feed(SILENCE, WORD)
    woken_at = INDEX + RATE_HZ + len(WORD) - RATE_HZ // 20  # before the end of its last sound
    box.set_mode(SetListening(True, since=woken_at))
    box.feed(QUESTION, SILENCE)
    assert box.sound()[0] >= woken_at


def test_one_wake_word_wakes_once(settings: HearingSettings) -> None:
    box = Listener(settings, SetListening(False))
    box.feed(SILENCE, WORD, QUESTION, SILENCE)
    mode = SetListening(True, since=INDEX + RATE_HZ + len(WORD))
    box.set_mode(mode)
    box.feed(SILENCE)
    events = list(box.events)
    box.set_mode(SetListening(True, "a conversation", since=mode.since))
    assert box.events == events


# ── words ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(("kind", "verdict"), [("yield", "interruption"), ("carry_on", "other")])
def test_words_recognised_in_time_change_the_verdict(
    settings: HearingSettings, kind: str, verdict: str
) -> None:
    box = Listener(settings, SetListening(True), answering=True)
    sound = at_level(say("yes"))
    box.feed(SILENCE, sound[: RATE_HZ // 5])
    onset = box.only(Onset)
    assert isinstance(onset, Onset)
    text = {"yield": "wait", "carry_on": "yes"}[kind]
    for _ in range(2):  # repeating the message adds nothing
        words = WordsHeard(onset.serial, 200, text, kind)  # type: ignore[arg-type]  # valid
        box.hearing.on_words(words)
    box.feed(sound[RATE_HZ // 5 :], SILENCE)
    [judged] = [event.kind for event in box.events if isinstance(event, Verdict)]
    assert (judged == "interruption") == (verdict == "interruption")


def test_words_of_another_sound_change_nothing(settings: HearingSettings) -> None:
    def verdicts(serial: int) -> list[HearingEvent]:
        box = Listener(settings, SetListening(True), answering=True)
        sound = at_level(say("right"))
        box.feed(SILENCE, sound[: RATE_HZ // 5])
        if serial:
            box.hearing.on_words(WordsHeard(serial, 200, "wait", "yield"))
        box.feed(sound[RATE_HZ // 5 :], SILENCE)
        return [event for event in box.events if not isinstance(event, SpeechSlot)]

    assert verdicts(99) == verdicts(0)
