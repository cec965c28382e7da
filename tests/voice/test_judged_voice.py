"""A judged voice under the speaker's queue: sentences are held back, passed on or played."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from appliance.errors import UnsayableText
from appliance.messages.speech import SentenceTokens, Speak, SpeakFailed, Spoken
from appliance.pcm import EMPTY, RATE_HZ, Samples
from appliance.voice.judged_voice import JudgedVoice
from appliance.voice.speech_queue import SpeechQueue
from tests.voice.fakes import FakeVoice

TEXT = "The sea is wide."
LONG_S = 2.0


class FakeJudge:
    """A judge whose verdict the test gives."""

    def __init__(self) -> None:
        self.ready = True
        self.asked: list[tuple[list[str], Samples]] = []
        self.verdict: Callable[[bool], object] | None = None
        self.closed = False

    def judge(self, words: list[str], sound: Samples, verdict: Callable[[bool], object]) -> None:
        self.asked.append((words, sound))
        self.ready, self.verdict = False, verdict

    def say(self, good: bool) -> None:
        assert self.verdict is not None
        self.ready = True
        self.verdict(good)

    def poll(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        self.closed = True


class Box:
    """A judged voice with a fallback voice, and a simulated clock."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.inner, self.judge = FakeVoice("head", frames=int(LONG_S * RATE_HZ)), FakeJudge()
        self.voice = JudgedVoice(self.inner, self.judge, lambda: self.now_s)  # type: ignore[arg-type]
        self.stand_in = FakeVoice("text", frames=500)
        self.reports: list[Spoken | SpeakFailed] = []
        self.queue = SpeechQueue([self.voice, self.stand_in], self.reports.append)
        self.frames = 0

    def speak(self, number: int, text: str = TEXT) -> None:
        tokens = SentenceTokens(10 * number + 1, 10 * number + 5, (0, 1, 2, 3))
        self.queue.push(Speak(1, number, text, tokens=tokens), self.now_s)

    def step(self, turn: int = 1) -> int:
        """Returns the number of samples popped."""
        found = sum(len(slot.samples) for slot in self.queue.pop_slots(turn, 10_000, self.now_s))
        self.frames += found
        return found

    def spoken(self) -> list[tuple[int, str, bool]]:
        assert all(isinstance(report, Spoken) for report in self.reports)
        return [(t.number, t.voice, t.passed_on) for t in self.reports if isinstance(t, Spoken)]


@pytest.fixture
def box() -> Box:
    return Box()


def test_the_first_sentence_is_played_before_it_is_judged(box: Box) -> None:
    box.speak(0)
    assert box.step() > LONG_S * RATE_HZ - 320
    ((words, sound),) = box.judge.asked
    assert words == ["the", "sea", "is", "wide"]
    np.testing.assert_array_equal(sound, box.inner.sound(0))
    box.judge.say(good=True)
    box.step()
    assert box.spoken() == [(0, "head", False)]
    assert box.frames == LONG_S * RATE_HZ


def test_after_a_bad_verdict_another_voice_says_the_rest_of_the_answer(box: Box) -> None:
    box.speak(0)
    box.step()
    box.judge.say(good=False)
    box.speak(1)
    box.step()
    assert box.spoken() == [(0, "head", True), (1, "text", True)]
    assert box.stand_in.said == [TEXT]


def test_a_later_sentence_is_held_back_and_replaced_after_a_bad_verdict(box: Box) -> None:
    box.speak(0)
    box.step()
    box.judge.say(good=True)
    box.step()
    before = box.frames
    box.speak(1)
    assert box.step() == 0
    box.judge.say(good=False)
    box.step()
    assert box.spoken() == [(0, "head", False), (1, "text", True)]
    assert box.frames - before < len(box.inner.sound(0))  # the text voice's sound and the pause


def test_a_held_sentence_is_played_completely_after_a_good_verdict(box: Box) -> None:
    box.speak(0)
    box.step()
    box.judge.say(good=True)
    box.step()
    box.speak(1)
    assert box.step() == 0
    box.judge.say(good=True)
    assert box.step() > LONG_S * RATE_HZ
    assert box.spoken() == [(0, "head", False), (1, "head", False)]


def test_a_held_sentence_is_played_unjudged_before_the_previous_one_ends(box: Box) -> None:
    box.speak(0)
    box.step()
    box.judge.say(good=True)
    box.step()
    box.speak(1)
    box.now_s += LONG_S - 0.2
    assert box.step() == 0
    box.now_s += 0.15
    assert box.step() > 0


def test_a_missing_verdict_delays_nothing(box: Box) -> None:
    box.speak(0)
    box.step()
    assert box.reports == []
    box.now_s += LONG_S / 2
    box.step()
    assert box.spoken() == [(0, "head", False)]
    box.judge.say(good=False)  # too late for this sentence
    box.judge.ready = False
    box.speak(1)
    box.step()
    assert box.spoken() == [(0, "head", False), (1, "head", False)]


def test_the_next_answer_is_said_by_the_judged_voice_again(box: Box) -> None:
    box.speak(0)
    box.step()
    box.judge.say(good=False)
    box.step()
    box.queue.push(Speak(2, 0, TEXT, tokens=SentenceTokens(90, 94, (0, 1, 2, 3))), box.now_s)
    box.step(turn=2)
    box.judge.say(good=True)
    box.step(turn=2)
    assert [(t.turn, t.voice, t.passed_on) for t in box.reports if isinstance(t, Spoken)] == [
        (1, "head", True),
        (2, "head", False),
    ]


def test_a_text_that_cannot_be_judged_is_played_unjudged(box: Box) -> None:
    box.speak(0, "It is 5.")
    box.step()
    assert box.judge.asked == []
    assert box.spoken() == [(0, "head", False)]


def test_while_the_judge_is_busy_a_sentence_is_not_held_back(box: Box) -> None:
    box.judge.ready = False
    box.speak(0)
    box.step()
    box.speak(1)
    assert box.step() > 0
    assert box.spoken() == [(0, "head", False), (1, "head", False)]


def test_a_verdict_after_a_stop_changes_nothing(box: Box) -> None:
    speech = box.voice.synthesise(TEXT)
    while speech.read() is not EMPTY:
        continue
    speech.cancel()
    box.judge.say(good=False)
    assert box.inner.speeches[0].cancelled
    with pytest.raises(AssertionError, match="cancelled"):
        box.inner.speeches[0].read()


def test_a_bad_verdict_reports_how_much_was_played(box: Box) -> None:
    for held, said in ((False, len(TEXT)), (True, 0)):
        speech = box.voice.synthesise(TEXT)
        if held:
            speech.hold_until(box.now_s + 60)
        while speech.read() is not EMPTY:
            continue
        box.judge.say(good=False)
        with pytest.raises(UnsayableText) as failed:
            speech.read()
        assert (failed.value.said, failed.value.rest_of_answer) == (said, True)


def test_close_closes_the_voice_and_the_judge(box: Box) -> None:
    box.voice.close()
    assert box.inner.closed
    assert box.judge.closed
