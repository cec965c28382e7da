"""Random walks: no order of messages breaks an invariant or leaves the dialogue stuck."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from appliance.dialog.actions import Action, AnnounceState, RaiseTurn, ReleaseHold, SendMessage
from appliance.dialog.on_tool import Ringing, ToolReply
from appliance.dialog.policy import NEVER
from appliance.dialog.state_machine import DialogEvent, Tick
from appliance.language.catalogue import english
from appliance.messages.commands import (
    Ask,
    Forget,
    ListenOnce,
    ModeName,
    Mute,
    Repeat,
    Say,
    SetMode,
    StopSpeaking,
)
from appliance.messages.commands import TalkButton as Button
from appliance.messages.hearing import (
    Judgement,
    Onset,
    PhraseKind,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WakeWordHeard,
    WordsHeard,
)
from appliance.messages.playback import (
    CardFound,
    CardLost,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.registry import Message
from appliance.messages.speech import EndAnswer, Speak, SpeakerReady, SpeakFailed, Spoken
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import (
    Abandon,
    AnswerBegun,
    AnswerHeard,
    RecallWanted,
    Sentence,
    Think,
    ThinkerReady,
    ThinkingProgress,
    ThoughtEnded,
)
from appliance.messages.tools import ToolCalled
from tests.dialog.talk import Talk

LOST_THREAD = english().say("lost-thread")
NOTHING_TO_SAY = english().say("nothing-to-say")
NOT_READY = english().say("not-ready")
NOTHING_SAID = english().say("nothing-said")

Reason = Literal["complete", "limit", "abandoned", "failed"]
Direction = Literal["capture", "playback"]
OURS = {LOST_THREAD, NOTHING_TO_SAY, NOT_READY, NOTHING_SAID}
PARTS = ("capture", "playback", "listener", "thinker", "speaker", "conductor")
KINDS: tuple[Judgement, ...] = get_args(Judgement)
REASONS: tuple[Reason, ...] = get_args(Reason)
MODES: tuple[ModeName, ...] = get_args(ModeName)
UNDERSTOOD: tuple[PhraseKind, ...] = ("stop", "repeat", "yield", "carry_on", "other")
CARDS: tuple[Direction, ...] = get_args(Direction)
WORDS = (
    "The moon is grey.",
    "It has no air at all.",
    "No.",
    "Nobody lives there, as far as known.",
)


class Walk:
    """A talk with a floor and a simulated speaker; every action is checked."""

    hold: int = 0
    released: int = 0

    def __init__(self) -> None:
        self.talk = Talk()
        self.floor_turn = self.talk.turn
        self.thinking: int | None = None
        self.repeated_ticks = 0
        self.planned: dict[int, list[str]] = {}
        self.heard: set[int] = set()

    def onset(self) -> int:
        self.hold += 1
        return self.hold

    def serial(self, a: int) -> int:
        return self.hold - (a == 0) + (a == 1)

    def turn(self, a: int) -> int:
        return self.talk.turn - (a in (0, 1)) + (a == 2)

    def take(self, message: DialogEvent, after_s: float) -> None:
        if isinstance(message, ThoughtEnded) and message.turn == self.thinking:
            self.thinking = None
        if isinstance(message, PartChanged) and message.part == "thinker" and message.state != "up":
            self.thinking = None
        turn_before = self.talk.turn
        actions = self.talk(message, after_s=after_s)
        assert self.talk.turn >= turn_before
        replies: list[DialogEvent] = [reply for action in actions for reply in self.see(action)]
        it = self.talk.it
        assert it.turn == self.floor_turn
        assert it.hold.consistent
        assert it.listening.consistent
        assert it.ringing.consistent
        assert it.cut is None or it.cut.consistent
        assert it.state != "holding" or it.hold.open
        assert it.state in ("idle", "muted") or it.deadline_s < NEVER
        assert it.state not in ("idle", "listening", "muted") or it.answer is None
        assert it.state not in ("thinking", "speaking", "holding") or it.answer is not None
        assert it.listening.sent == it.listening_command(self.talk.now_s)
        assert not it.listening.muted or (
            it.state not in ("listening", "holding") and not it.listening.sent.on
        )
        if isinstance(message, Tick) and it.deadline_s <= self.talk.now_s:
            self.repeated_ticks += 1  # a ring that one tick starts is put off by the next
            assert self.repeated_ticks < 2, "the conductor would busy-loop"
            replies.append(Tick(message.hold, message.pressed))
        else:
            self.repeated_ticks = 0
        for reply in replies:
            self.take(reply, 0.0)

    def wait(self, ticks: int) -> None:
        """No more messages, but so many ticks 2 s apart. Once nothing is due and a tick changes
        nothing, the rest of the time passes at once."""
        for left in range(ticks, 0, -1):
            before = self.talk.it
            self.take(Tick(self.hold), 2.0)
            if self.talk.it == before and before.deadline_s == NEVER:
                self.take(Tick(self.hold), 2.0 * left)
                return

    def see(self, action: Action) -> list[Message]:
        """Check one action against all before it. Returns the speaker's replies."""
        match action:
            case RaiseTurn(turn):
                assert turn > self.floor_turn
                self.floor_turn = turn
            case ReleaseHold(serial):
                assert serial <= self.hold
                self.released = serial
            case SendMessage(_, Think(turn)):
                assert self.thinking is None
                self.thinking = turn
            case SendMessage(_, Abandon(turn)) if turn == self.thinking:
                self.thinking = None
            case SendMessage(_, Speak(turn, number, text)):
                assert turn == self.floor_turn
                lines = self.planned.setdefault(turn, [])
                assert number == len(lines)
                place = sum(1000 * len(line) for line in lines)
                lines.append(text)
                return [Spoken(turn, number, place, 1000 * len(text), 1.0)]
            case SendMessage(_, EndAnswer(turn)):
                assert turn == self.floor_turn
            case SendMessage(_, AnswerHeard(turn, text, _)):
                assert turn not in self.heard or not text
                self.heard.add(turn)
                own = [line for line in self.planned.get(turn, []) if line not in OURS]
                assert " ".join(own).startswith(text)
            case AnnounceState(state):
                assert state in ("idle", "muted", "failed") or self.talk.it.deadline_s < NEVER
            case _:
                pass
        return []


# Possible messages, made from two small numbers and the walk: `turn` and `serial` are mostly the
# present ones, and sometimes the one before or after.
Maker = Callable[[Walk, int, int], DialogEvent]
COMES: tuple[Maker, ...] = (
    lambda walk, a, b: Onset(walk.onset(), walk.talk.index - 1000 * a, speaking=b % 2 == 0),
    lambda walk, a, b: Onset(walk.onset(), 0, speaking=b % 2 == 0),
    lambda walk, a, b: Verdict(walk.serial(a), KINDS[b % 3], 300),
    lambda walk, a, b: Verdict(walk.serial(a), KINDS[b % 3], 300),
    lambda walk, a, b: SpeechStarted(walk.hold, walk.hold, 0),
    lambda walk, a, b: SpeechEnded(walk.hold, 0, 4000 * b, last=True),
    lambda walk, a, b: SpeechEnded(walk.hold, 0, 4000 * b, last=a % 3 > 0),
    lambda walk, a, b: Sentence(walk.turn(a), b, WORDS[b % 4]),
    lambda walk, a, b: Sentence(walk.turn(a), b, WORDS[b % 4]),
    lambda walk, a, b: ThoughtEnded(walk.turn(a), b, REASONS[b % 4]),
    lambda walk, a, b: ToolCalled(walk.turn(a), b % 3, "time"),
    lambda walk, a, b: ToolReply(walk.turn(a), b % 3, WORDS[: b % 2 + 1]),
    lambda walk, a, b: ToolReply(walk.turn(a), b % 3, WORDS[: b % 2 + 1]),
    lambda walk, a, b: Ringing(WORDS[: b % 3]),
    lambda walk, a, b: PlaybackStarted(walk.turn(a), walk.talk.index),
    lambda walk, a, b: PlaybackStarted(walk.turn(a), 0),
    lambda walk, a, b: PlaybackPaused(walk.turn(a), walk.hold, 4000 * b, 0),
    lambda walk, a, b: PlaybackResumed(walk.turn(a), walk.hold, 4000 * b, 0),
    lambda walk, a, b: PlaybackFinished(walk.turn(a), 4000 * b, 0),
    lambda walk, a, b: PlaybackStopped(walk.turn(a), 4000 * b, 0),
    lambda walk, a, b: PartChanged(PARTS[a % 6], ("up", "down", "failed")[b % 3]),
    lambda walk, a, b: CardLost(CARDS[b % 2], "gone"),
    lambda walk, a, b: CardFound(CARDS[b % 2], "hw:0", 16_000),
    lambda walk, a, b: AnswerBegun(WORDS[b % 4]),
    lambda walk, a, b: ThinkerReady("pocket"),
    lambda walk, a, b: RecallWanted(),
    lambda walk, a, b: ThinkingProgress(walk.turn(a)),
    lambda walk, a, b: SpeakerReady("espeak"),
    lambda walk, a, b: StopSpeaking(),
    lambda walk, a, b: Mute(on=b % 2 == 0),
    lambda walk, a, b: Say("Tea."),
    lambda walk, a, b: Ask("why?"),
    lambda walk, a, b: Forget(last=b % 2 == 0),
    lambda walk, a, b: Repeat(),
    lambda walk, a, b: Button(pressed=b % 2 == 0),
    lambda walk, a, b: Button(pressed=b % 2 == 0),
    lambda walk, a, b: ListenOnce(),
    lambda walk, a, b: WakeWordHeard(walk.talk.index, "okay nabu"),
    lambda walk, a, b: SetMode(MODES[b % 3]),
    lambda walk, a, b: WordsHeard(walk.serial(a), 300, "stop", UNDERSTOOD[b % 5]),
    lambda walk, a, b: Tick(walk.hold, pressed=True),
    lambda walk, a, b: Tick(walk.hold),
    lambda walk, a, b: Tick(walk.hold),
)
STEP = st.tuples(
    st.integers(0, len(COMES) - 1),
    st.integers(0, 11),
    st.integers(0, 15),
    st.sampled_from((0.0, 0.0, 0.05, 0.3, 1.0, 2.0, 40.0)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(STEP, max_size=60))
@pytest.mark.long
def test_no_random_walk_breaks_an_invariant_or_gets_stuck(
    steps: list[tuple[int, int, int, float]],
) -> None:
    walk = Walk()
    for kind, a, b, after_s in steps:
        walk.take(COMES[kind](walk, a, b), after_s)
    walk.take(Ringing(()), 0.0)  # the tools give up the ring
    walk.wait(400)
    it = walk.talk.it
    assert it.state in (("failed",) if it.parts.broken else ("idle", "muted"))
    assert not it.hold.open
    assert walk.released == walk.hold
    assert it.answer is None or it.parts.broken
    assert not it.listening.button_down
    assert it.listening.press_until_s == NEVER


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=40), st.integers(0, 11))
@example(
    [
        (0, 0, 0, 0.0),
        (13, 0, 1, 0.0),
        (21, 0, 1, 0.0),
        (0, 0, 0, 40.0),
        (2, 0, 0, 40.0),
        (40, 0, 0, 0.0),
    ],
    0,
)  # a timer rings while the loudspeaker is lost
@pytest.mark.long
def test_after_any_random_walk_the_next_question_is_answered(
    steps: list[tuple[int, int, int, float]], number: int
) -> None:
    walk = Walk()
    for kind, a, b, after_s in steps:
        walk.take(COMES[kind](walk, a, b), after_s)
    walk.take(Ringing(()), 0.0)  # the tools give up the ring
    walk.wait(60)
    for part in PARTS:
        walk.take(PartChanged(part, "up"), 0.0)
    for card in CARDS:
        walk.take(CardFound(card, "hw:0", 16_000), 0.0)
    walk.take(Mute(on=False), 0.0)
    walk.wait(300)
    assert walk.talk.state == "idle"
    walk.take(SetMode("open"), 0.0)
    walk.take(Onset(walk.onset(), 0, speaking=False), 0.0)
    walk.take(SpeechStarted(walk.hold + 1000, walk.hold, 0), 0.3)
    walk.take(SpeechEnded(walk.hold + 1000, 0, 16_000, last=True), 0.3)
    walk.take(Tick(walk.hold), 0.5)
    turn = walk.talk.turn
    assert walk.thinking == turn
    walk.take(Sentence(turn, 0, WORDS[number % 4]), 0.1)
    walk.take(ThoughtEnded(turn, 1, "complete"), 0.1)
    walk.take(PlaybackStarted(turn, 0), 0.1)
    assert walk.talk.state == "speaking"
    walk.take(PlaybackFinished(turn, 9, 0), 1.0)
    assert walk.talk.state == "idle"
    assert walk.talk.remembered()[-1] == (WORDS[number % 4], True)


def test_a_failed_sentence_keeps_the_order_of_the_others() -> None:
    walk = Walk()
    walk.take(Ask("why?"), 0.0)
    turn = walk.talk.turn
    for number, text in enumerate(WORDS):
        walk.take(Sentence(turn, number, text), 0.0)
    walk.take(SpeakFailed(turn, 1, "no voice"), 0.0)
    walk.take(ThoughtEnded(turn, 4, "complete"), 0.0)
    walk.talk(PlaybackStarted(turn, 0), PlaybackFinished(turn, 99, 0))
    assert walk.talk.remembered() == [(" ".join((WORDS[0], *WORDS[2:])), False)]


DISTURBANCE = st.tuples(
    st.floats(0.02, 3.0), st.floats(0.1, 0.7), st.sampled_from(("backchannel", "noise"))
)


@settings(max_examples=150, deadline=None)
@given(st.lists(DISTURBANCE, min_size=2, max_size=25))
@pytest.mark.long
def test_no_answer_stammers(disturbances: list[tuple[float, float, Judgement]]) -> None:
    """An answer cut soon after it resumed resumes only after a debounce or a maximum wait."""
    walk = Walk()
    walk.take(Ask("why?"), 0.0)
    turn, rules = walk.talk.turn, walk.talk.it.policy
    walk.take(Sentence(turn, 0, 400 * "No. "), 0.0)
    walk.take(PlaybackStarted(turn, 0), 0.0)
    resumed_s = judged_s = -NEVER
    paused_s = NEVER

    def look(message: Message | Tick, after_s: float) -> None:
        nonlocal resumed_s, paused_s
        was = walk.talk.state
        walk.take(message, after_s)
        now_s, state = walk.talk.now_s, walk.talk.state
        if (was, state) == ("speaking", "holding"):
            paused_s = now_s
        elif (was, state) == ("holding", "speaking"):
            debounced = now_s - judged_s >= rules.resume_debounce_s - 1e-6
            overdue = now_s - paused_s >= rules.max_resume_wait_s - rules.resume_debounce_s - 1e-6
            assert paused_s - resumed_s >= rules.rapid_interrupt_s or debounced or overdue
            resumed_s = now_s

    for gap_s, verdict_s, kind in disturbances:
        end_s = walk.talk.now_s + gap_s
        while (due_s := walk.talk.it.deadline_s) < end_s:
            look(Tick(walk.hold), due_s - walk.talk.now_s)
        look(Onset(walk.onset(), walk.talk.index, speaking=True), end_s - walk.talk.now_s)
        judged_s = walk.talk.now_s + verdict_s
        look(Verdict(walk.hold, kind, 300), verdict_s)
    while walk.talk.state == "holding":
        look(Tick(walk.hold), max(0.0, walk.talk.it.deadline_s - walk.talk.now_s))
    assert walk.talk.state == "speaking"
