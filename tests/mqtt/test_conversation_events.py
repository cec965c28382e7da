"""What has happened in the conversation, for the house."""

from __future__ import annotations

import json

import pytest

from appliance.messages.commands import BoxStatus, StateChanged
from appliance.messages.hearing import SpeechEnded, SpeechStarted, Verdict, WakeWordHeard
from appliance.messages.playback import PlaybackFinished, PlaybackStarted, PlaybackStopped
from appliance.messages.registry import Message
from appliance.messages.thinking import AnswerHeard
from appliance.mqtt.conversation_events import KINDS, ConversationEvents, EventPayload

MS = 16  # samples


def state(name: str, turn: int = 0) -> StateChanged:
    return StateChanged(name, turn, 0)  # type: ignore[arg-type]  # one of the seven


def told(story: ConversationEvents, *messages: Message) -> list[EventPayload]:
    return [event for message in messages for event in story.handle(message)]


ASKED = (
    state("listening"),
    SpeechStarted(5, 5, 10_000 * MS),
    SpeechEnded(5, 12_000 * MS, 32_000, last=True),
    state("thinking", 7),
)
ANSWERED = (
    state("speaking", 7),
    PlaybackStarted(7, 12_640 * MS),
    PlaybackFinished(7, 2100 * MS, 15_000 * MS),
)


def test_a_question_and_its_answer_are_two_events_with_their_lengths() -> None:
    assert told(ConversationEvents(), *ASKED, *ANSWERED) == [
        {"event_type": "user_said", "duration_ms": 2000},
        {"event_type": "agent_said", "turn": 7, "duration_ms": 2100, "latency_ms": 640},
    ]


def test_answers_are_counted_and_the_latest_latency_is_kept() -> None:
    story = ConversationEvents()
    told(story, *ASKED, *ANSWERED)
    assert (story.turns, story.latency_ms) == (1, 640)


def test_an_answer_that_is_cut_was_interrupted_after_what_was_heard() -> None:
    events = told(ConversationEvents(), *ASKED, *ANSWERED[:2], PlaybackStopped(7, 900 * MS, 0))
    assert events[-1] == {
        "event_type": "interrupted", "turn": 7, "duration_ms": 900, "latency_ms": 640,
    }  # fmt: skip


def test_what_nobody_asked_for_is_announced() -> None:
    story = ConversationEvents()
    events = told(
        story, state("speaking", 3), PlaybackStarted(3, 0), PlaybackFinished(3, 1500 * MS, 0)
    )
    assert events == [{"event_type": "announced", "turn": 3, "duration_ms": 1500}]
    assert (story.turns, story.latency_ms) == (0, None)


def test_a_ringing_is_not_announced_again_and_again_but_what_is_said_meanwhile_is() -> None:
    story = ConversationEvents()
    for turn in (3, 4):
        rings = StateChanged("speaking", turn, 0, ring=True)
        assert not told(
            story,
            rings,
            PlaybackStarted(turn, 0),
            PlaybackFinished(turn, 1500 * MS, 0),
            state("idle"),
        )
    said = told(
        story, state("speaking", 5), PlaybackStarted(5, 0), PlaybackFinished(5, 900 * MS, 0)
    )
    assert [event["turn"] for event in said] == [5]
    cut = StateChanged("speaking", 6, 0, ring=True)
    assert not told(story, cut, PlaybackStarted(6, 0), PlaybackStopped(6, 300 * MS, 0))


def test_a_second_question_while_the_first_is_thought_about_is_an_answers_too() -> None:
    """The state stays `thinking`, so only `speaking` tells of the new turn."""
    events = told(
        ConversationEvents(),
        *ASKED,
        state("speaking", 8),
        PlaybackStarted(8, 13_000 * MS),
        PlaybackFinished(8, 1600 * MS, 0),
    )
    assert events[-1]["event_type"] == "agent_said"


def test_a_typed_question_has_no_latency() -> None:
    story = ConversationEvents()
    told(story, state("thinking", 2), state("speaking", 2), PlaybackStarted(2, 50_000 * MS))
    assert (story.turns, story.latency_ms) == (1, None)


def test_a_murmur_counts_only_over_the_box() -> None:
    story = ConversationEvents()
    assert told(story, Verdict(1, "backchannel", 200)) == []
    told(story, *ASKED, *ANSWERED[:2])
    assert told(story, Verdict(2, "backchannel", 200), Verdict(3, "noise", 90)) == [
        {"event_type": "backchannel", "turn": 7}
    ]


@pytest.mark.parametrize(
    "messages",
    [
        (SpeechEnded(5, 0, 32_000, last=False),),  # a piece of a long turn
        (SpeechEnded(5, 0, 0, last=True),),  # the button was held and nobody spoke
        (PlaybackFinished(9, 100, 0),),  # of an answer that never sounded
        (PlaybackStopped(9, 0, 0),),
        (Verdict(1, "interruption", 300),),
        (AnswerHeard(7, "The moon.", complete=True),),
        (BoxStatus("open", False, 0.8),),
    ],
)
def test_what_is_no_event_makes_none(messages: tuple[Message, ...]) -> None:
    assert told(ConversationEvents(), *messages) == []


def test_the_wake_word_and_a_broken_part_are_events() -> None:
    story = ConversationEvents()
    broken = BoxStatus("open", False, 0.8, broken=("the microphone",))
    assert told(story, WakeWordHeard(5, "okay nabu"), broken, broken) == [
        {"event_type": "wake"},
        {"event_type": "error", "part": "the microphone"},
    ]


def test_a_part_that_breaks_again_is_told_again() -> None:
    story = ConversationEvents()
    broken = BoxStatus("open", False, 0.8, broken=("listener",))
    assert len(told(story, broken, BoxStatus("open", False, 0.8), broken)) == 2


PRIVATE = "The code of the door is 4711."


def test_no_word_is_in_any_event_by_default() -> None:
    events = told(ConversationEvents(), *ASKED, AnswerHeard(7, PRIVATE, complete=True), *ANSWERED)
    assert "4711" not in json.dumps(events)
    assert all("text" not in event for event in events)


def test_where_the_owner_wants_it_the_event_has_what_was_heard() -> None:
    events = told(
        ConversationEvents(words=True), *ASKED, AnswerHeard(7, PRIVATE, complete=True), *ANSWERED
    )
    assert events[-1]["text"] == PRIVATE


def test_every_event_is_of_an_announced_kind() -> None:
    story = ConversationEvents()
    broken = BoxStatus("open", False, 0.8, broken=("listener",))
    events = told(story, *ASKED, *ANSWERED, broken, WakeWordHeard(1, "x"), *ASKED, *ANSWERED[:2],
                  Verdict(1, "backchannel", 1), PlaybackStopped(7, 1600, 0))  # fmt: skip
    assert {event["event_type"] for event in events} <= set(KINDS)
