"""An enrolment as the page runs it: word after word, and every run ends."""

from __future__ import annotations

from typing import Literal

import pytest

from appliance.messages.commands import ButtonPressed
from appliance.messages.enrolling import (
    WORDS,
    AskTake,
    BeginEnrolment,
    EnrolmentLearnt,
    LearnEnrolment,
    TakeFault,
    TakeJudged,
)
from appliance.messages.registry import Message
from appliance.messages.trying import EndTrial, SoundRecording, TrialRefused
from appliance.page.enrolment_run import (
    AGAIN_S,
    LONGEST_S,
    MOST_FAULTS,
    ROUNDS,
    TRIES,
    EnrolmentRun,
)


class Owner:
    """An owner who answers the run's requests. `asked`: the newest request."""

    def __init__(self) -> None:
        self.run = EnrolmentRun()
        self.now_s = 100.0
        self.sent: list[Message] = []
        assert self.run.begin(self.now_s)
        self.collect()

    @property
    def asked(self) -> AskTake:
        return [one for one in self.sent if isinstance(one, AskTake)][-1]

    def collect(self) -> None:
        self.sent += self.run.pop_messages()

    def tell(self, message: Message) -> None:
        self.run.handle(message, self.now_s)
        self.collect()

    def take(self, fault: TakeFault | None = None) -> None:
        number = self.run.number
        for on in (True, False):
            self.tell(SoundRecording(number, on))
        self.tell(TakeJudged(number, self.asked.take, fault))

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self.run.expire(self.now_s)
        self.collect()


def test_each_round_asks_for_every_word_and_then_learning_starts() -> None:
    owner = Owner()
    assert isinstance(owner.sent[0], BeginEnrolment)
    assert owner.asked.first
    words = []
    for _ in range(ROUNDS * len(WORDS)):
        words.append(owner.asked.word)
        owner.take()
    assert words == ROUNDS * list(WORDS)
    assert owner.sent[-1] == LearnEnrolment(owner.run.number)
    assert [one.first for one in owner.sent if isinstance(one, AskTake)].count(True) == 1
    assert owner.run.phase == "learning"
    owner.tell(EnrolmentLearnt(owner.run.number, "kept", 0.5, 0.9))
    assert (owner.run.phase, owner.run.accepted) == ("learnt", len(owner.run.rows))
    assert not owner.run.under_way


def test_an_unusable_take_is_repeated_with_the_reason_and_finally_left_out() -> None:
    owner = Owner()
    word = owner.asked.word
    for _ in range(TRIES - 1):
        owner.take("noisy")
        assert (owner.asked.word, owner.asked.fault) == (word, "noisy")
    owner.take("short")
    assert owner.asked.word != word
    row = owner.run.rows[0]
    assert (row.tries, row.fault, row.accepted) == (TRIES, "short", False)


def test_a_take_accepted_at_the_second_try_counts() -> None:
    owner = Owner()
    owner.take("silent")
    owner.take()
    assert owner.run.rows[0].accepted
    assert owner.asked.fault is None


def test_too_many_faults_end_the_enrolment() -> None:
    owner = Owner()
    for _ in range(MOST_FAULTS):
        owner.take("noisy")
    assert owner.run.phase == "faults"
    assert owner.sent[-1] == EndTrial(owner.run.number)


def test_during_a_conversation_the_enrolment_waits_and_asks_again() -> None:
    owner = Owner()
    number, word = owner.run.number, owner.asked.word
    owner.tell(TrialRefused(number, "busy"))
    assert owner.run.phase == "waiting"
    before = len(owner.sent)
    owner.wait(AGAIN_S / 2)
    assert len(owner.sent) == before
    owner.wait(AGAIN_S)
    assert owner.asked.word == word
    assert len(owner.sent) == before + 1
    owner.take()
    assert owner.run.rows[0].accepted


def test_a_conversation_that_does_not_end_ends_the_enrolment() -> None:
    owner = Owner()
    for _ in range(round(LONGEST_S["waiting"] / AGAIN_S) + 2):
        owner.tell(TrialRefused(owner.run.number, "busy"))
        owner.wait(AGAIN_S)
    assert (owner.run.phase, owner.run.why) == ("refused", "busy")


@pytest.mark.parametrize("why", ["muted", "no-voice", "no-microphone"])
def test_a_refusal_other_than_busy_ends_the_enrolment_with_its_reason(why: str) -> None:
    owner = Owner()
    owner.tell(TrialRefused(owner.run.number, why))  # type: ignore[arg-type]  # one of its names
    assert (owner.run.phase, owner.run.why) == ("refused", why)


def test_the_button_a_cancel_and_an_unwatched_page_end_the_enrolment() -> None:
    pressed = Owner()
    pressed.tell(ButtonPressed("press"))
    assert pressed.run.phase == "cancelled"
    ways: tuple[Literal["cancelled", "abandoned"], ...] = ("cancelled", "abandoned")
    for how in ways:
        owner = Owner()
        owner.run.end(how, owner.now_s)
        owner.collect()
        assert owner.run.phase == how
        assert owner.sent[-1] == EndTrial(owner.run.number)
        owner.tell(TakeJudged(owner.run.number, owner.asked.take, None))
        assert owner.run.accepted == 0, "the enrolment has ended"


@pytest.mark.parametrize("events", [0, 1, 2, 3])
def test_a_box_that_does_not_answer_ends_the_enrolment(events: int) -> None:
    owner = Owner()
    number = owner.run.number
    for on in (True, False)[: min(events, 2)]:
        owner.tell(SoundRecording(number, on))
    if events == 3:
        for _ in owner.run.rows:
            owner.take()
    owner.wait(LONGEST_S[owner.run.phase] + 1)
    assert (owner.run.phase, owner.run.why) == ("refused", "no-answer")
    assert owner.sent[-1] == EndTrial(number)


def test_takes_and_results_of_another_enrolment_are_ignored() -> None:
    owner = Owner()
    number = owner.run.number
    for message in (
        SoundRecording(number + 1, on=True),
        TakeJudged(number - 1, owner.asked.take, None),
        TakeJudged(number, owner.asked.take + 7, None),
        EnrolmentLearnt(number - 1, "kept"),
        TrialRefused(number + 1, "muted"),
    ):
        owner.tell(message)
    assert (owner.run.phase, owner.run.accepted) == ("asking", 0)


def test_the_word_that_contradicts_the_others_is_marked() -> None:
    owner = Owner()
    taken = {}
    for _ in range(len(owner.run.rows)):
        taken[owner.asked.take] = owner.asked.word
        owner.take()
    worst = list(taken)[4]
    owner.tell(EnrolmentLearnt(owner.run.number, "contradict", worst=worst))
    assert (owner.run.rows[4].fault, owner.run.rows[4].accepted) == ("unlike", False)


def test_only_one_enrolment_runs_at_a_time() -> None:
    owner = Owner()
    number = owner.run.number
    assert not owner.run.begin(owner.now_s)
    owner.run.end("cancelled", owner.now_s)
    assert owner.run.begin(owner.now_s)
    assert owner.run.number > number
