"""The dialogue and the player together: "pardon?" over the box repeats its last sentence."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.dialog.actions import RaiseTurn, ReleaseHold, SendMessage
from appliance.dialog.state_machine import DialogEvent, Tick
from appliance.messages.hearing import (
    Onset,
    SetListening,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WordsHeard,
)
from appliance.messages.playback import (
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    RewindAnswer,
)
from appliance.messages.speech import EndAnswer, Speak, Spoken
from appliance.messages.thinking import Sentence, ThoughtEnded
from appliance.pcm import BLOCK_FRAMES, RATE_HZ
from tests.audio.player_bench import RAMP, Bench
from tests.audio.rig import noise
from tests.dialog.talk import RULES, Talk

BLOCK_S = BLOCK_FRAMES / RATE_HZ
LINE_FRAMES, GAP_FRAMES = 2 * RATE_HZ, RATE_HZ // 5
SENTENCES = ("The moon is grey.", "It has no air.", "Shall I go on?")


class Box:
    """A talk and a player that share a floor and a clock. `late_blocks`: how long a message to
    playback takes; None: it is lost."""

    def __init__(self, late_blocks: int | None = 1) -> None:
        self.talk, self.bench = Talk(), Bench()
        self._late_blocks = late_blocks
        self._due: list[tuple[int, RewindAnswer]] = []
        self._block = 0
        self.talk.speech()
        self.bench.turn = self.talk.turn
        lines = [noise(LINE_FRAMES, seed) for seed in range(len(SENTENCES))]
        gap = np.zeros(GAP_FRAMES, np.int16)
        self.answer = np.concatenate([lines[0], gap, lines[1], gap, lines[2]])
        self.begins = [n * (LINE_FRAMES + GAP_FRAMES) for n in range(len(SENTENCES))]
        for number, text in enumerate(SENTENCES):
            self.tell(Sentence(self.talk.turn, number, text))
            self.tell(Spoken(self.talk.turn, number, self.begins[number], LINE_FRAMES, 5.0))
        self.tell(ThoughtEnded(self.talk.turn, len(SENTENCES), "complete"))
        self.bench.offer(self.talk.turn, self.answer)

    def tell(self, message: DialogEvent) -> None:
        """Give the dialogue a message, and carry out its actions in their order."""
        for action in self.talk(message):
            match action:
                case RaiseTurn(turn):
                    self.bench.turn = turn
                case ReleaseHold(serial):
                    self.bench.released = serial
                case SendMessage("playback", RewindAnswer() as rewind):
                    if self._late_blocks is not None:
                        self._due.append((self._block + self._late_blocks, rewind))
                case SendMessage(_, Speak() | EndAnswer()):
                    pass  # its sound is offered to the player from the start

    def play(self, seconds: float) -> None:
        for _ in range(round(seconds / BLOCK_S)):
            for due, rewind in self._due:
                if due == self._block:
                    self.bench.player.rewind(rewind.turn, rewind.position)
            before = len(self.bench.events)
            self.bench.go(1)
            self._block += 1
            self.talk.now_s += BLOCK_S
            for event in self.bench.events[before:]:
                self.tell(event)
            self.tell(Tick(self.bench.hold))

    def interject(self, serial: int, *after: DialogEvent) -> None:
        """A sound over the answer: the listener raises the hold, then sends its messages."""
        self.bench.hold = serial
        self.tell(Onset(serial, 0, speaking=True))
        self.play(0.4)
        for message in after:
            self.tell(message)

    def say_pardon(self, serial: int) -> None:
        words = WordsHeard(serial, 380, "pardon", "repeat", 0.9)
        self.interject(
            serial, words, Verdict(serial, "interruption", 400), SpeechStarted(serial, serial, 0)
        )
        self.play(0.4)
        self.tell(SpeechEnded(serial, 0, RATE_HZ * 7 // 10, last=True))

    def finish(self) -> None:
        self.play(10.0)
        assert self.talk.state == "idle"


@pytest.mark.parametrize(("said_s", "sentence"), [(0.5, 0), (2.7, 0), (3.4, 1), (5.0, 1), (5.6, 2)])
def test_the_samples_of_the_last_sentence_are_heard_again_and_then_all_that_follow(
    said_s: float, sentence: int
) -> None:
    box = Box()
    box.play(said_s)
    box.say_pardon(2)
    box.finish()
    [resumed], [finished] = box.bench.of(PlaybackResumed), box.bench.of(PlaybackFinished)
    lead_frames = box.begins[sentence] - resumed.position
    assert 0 <= lead_frames <= RATE_HZ // 50
    sent = box.bench.from_index(resumed.index + RAMP, finished.index + 1)
    assert np.array_equal(sent, box.answer[resumed.position + RAMP :])
    assert box.talk.remembered() == [(" ".join(SENTENCES), True)]


def test_a_second_request_repeats_the_same_sentence() -> None:
    box = Box()
    box.play(3.4)
    box.say_pardon(2)
    box.play(1.5)
    box.say_pardon(3)
    box.finish()
    first, second = (event.position for event in box.bench.of(PlaybackResumed))
    assert first == second
    assert box.talk.remembered() == [(" ".join(SENTENCES), True)]


@pytest.mark.parametrize("late_blocks", [None, round((RULES.rewind_s + 0.1) / BLOCK_S)])
def test_the_answer_goes_on_where_it_stopped_if_the_message_is_lost_or_too_late(
    late_blocks: int | None,
) -> None:
    box = Box(late_blocks)
    box.play(3.4)
    box.say_pardon(2)
    box.finish()
    [paused], [resumed] = box.bench.of(PlaybackPaused), box.bench.of(PlaybackResumed)
    assert resumed.position == paused.position
    assert box.talk.remembered() == [(" ".join(SENTENCES), True)]


@pytest.mark.parametrize(("said_s", "asked"), [(1.0, False), (4.8, False), (5.6, True)])
def test_only_a_sound_near_the_end_of_the_question_is_reported_as_its_answer(
    said_s: float, asked: bool
) -> None:
    box = Box()
    box.play(said_s)
    box.interject(2)
    serials = [mode.asked for mode in box.talk.sent(SetListening, ever=True)]
    assert serials[-1] == (2 if asked else 0)
