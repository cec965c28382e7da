"""The events of the conversation that are published to Home Assistant."""

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


def events_of(conversation: ConversationEvents, *messages: Message) -> list[EventPayload]:
    return [event for message in messages for event in conversation.handle(message)]


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
    assert events_of(ConversationEvents(), *ASKED, *ANSWERED) == [
        {"event_type": "user_said", "duration_ms": 2000},
        {"event_type": "agent_said", "turn": 7, "duration_ms": 2100, "latency_ms": 640},
    ]


def test_answers_are_counted_and_the_latest_latency_is_stored() -> None:
    conversation = ConversationEvents()
    events_of(conversation, *ASKED, *ANSWERED)
    assert (conversation.turns, conversation.latency_ms) == (1, 640)


def test_a_cut_answer_is_an_interruption_with_the_duration_played() -> None:
    events = events_of(ConversationEvents(), *ASKED, *ANSWERED[:2], PlaybackStopped(7, 900 * MS, 0))
    assert events[-1] == {
        "event_type": "interrupted", "turn": 7, "duration_ms": 900, "latency_ms": 640,
    }  # fmt: skip


def test_speech_without_a_question_is_an_announcement() -> None:
    conversation = ConversationEvents()
    events = events_of(
        conversation, state("speaking", 3), PlaybackStarted(3, 0), PlaybackFinished(3, 1500 * MS, 0)
    )
    assert events == [{"event_type": "announced", "turn": 3, "duration_ms": 1500}]
    assert (conversation.turns, conversation.latency_ms) == (0, None)


def test_rings_are_not_announcements_and_speech_between_them_is() -> None:
    conversation = ConversationEvents()
    for turn in (3, 4):
        ring = StateChanged("speaking", turn, 0, ring=True)
        assert not events_of(
            conversation,
            ring,
            PlaybackStarted(turn, 0),
            PlaybackFinished(turn, 1500 * MS, 0),
            state("idle"),
        )
    announced = events_of(
        conversation, state("speaking", 5), PlaybackStarted(5, 0), PlaybackFinished(5, 900 * MS, 0)
    )
    assert [event["turn"] for event in announced] == [5]
    cut = StateChanged("speaking", 6, 0, ring=True)
    assert not events_of(conversation, cut, PlaybackStarted(6, 0), PlaybackStopped(6, 300 * MS, 0))


def test_the_answer_to_a_second_question_during_thinking_is_an_event() -> None:
    """The state stays `thinking`, so the new turn appears first in `speaking`."""
    events = events_of(
        ConversationEvents(),
        *ASKED,
        state("speaking", 8),
        PlaybackStarted(8, 13_000 * MS),
        PlaybackFinished(8, 1600 * MS, 0),
    )
    assert events[-1]["event_type"] == "agent_said"


def test_a_typed_question_has_no_latency() -> None:
    conversation = ConversationEvents()
    events_of(
        conversation, state("thinking", 2), state("speaking", 2), PlaybackStarted(2, 50_000 * MS)
    )
    assert (conversation.turns, conversation.latency_ms) == (1, None)


def test_a_backchannel_is_an_event_only_during_an_answer() -> None:
    conversation = ConversationEvents()
    assert events_of(conversation, Verdict(1, "backchannel", 200)) == []
    events_of(conversation, *ASKED, *ANSWERED[:2])
    assert events_of(conversation, Verdict(2, "backchannel", 200), Verdict(3, "noise", 90)) == [
        {"event_type": "backchannel", "turn": 7}
    ]


@pytest.mark.parametrize(
    "messages",
    [
        (SpeechEnded(5, 0, 32_000, last=False),),  # one part of a long turn
        (SpeechEnded(5, 0, 0, last=True),),  # the button was held without speech
        (PlaybackFinished(9, 100, 0),),  # an answer that was never played
        (PlaybackStopped(9, 0, 0),),
        (Verdict(1, "interruption", 300),),
        (AnswerHeard(7, "The moon.", complete=True),),
        (BoxStatus("open", False, 0.8),),
    ],
)
def test_other_messages_make_no_event(messages: tuple[Message, ...]) -> None:
    assert events_of(ConversationEvents(), *messages) == []


def test_the_wake_word_and_a_broken_part_are_events() -> None:
    conversation = ConversationEvents()
    broken = BoxStatus("open", False, 0.8, broken=("the microphone",))
    assert events_of(conversation, WakeWordHeard(5, "okay nabu"), broken, broken) == [
        {"event_type": "wake"},
        {"event_type": "error", "part": "the microphone"},
    ]


def test_a_part_that_breaks_again_is_reported_again() -> None:
    conversation = ConversationEvents()
    broken = BoxStatus("open", False, 0.8, broken=("listener",))
    assert len(events_of(conversation, broken, BoxStatus("open", False, 0.8), broken)) == 2


PRIVATE = "The code of the door is 4711."


def test_events_contain_no_words_by_default() -> None:
    events = events_of(
        ConversationEvents(), *ASKED, AnswerHeard(7, PRIVATE, complete=True), *ANSWERED
    )
    assert "4711" not in json.dumps(events)
    assert all("text" not in event for event in events)


def test_with_words_enabled_the_event_has_the_text_that_was_heard() -> None:
    events = events_of(
        ConversationEvents(words=True), *ASKED, AnswerHeard(7, PRIVATE, complete=True), *ANSWERED
    )
    assert events[-1]["text"] == PRIVATE


def test_every_event_kind_is_one_that_discovery_announces() -> None:
    conversation = ConversationEvents()
    broken = BoxStatus("open", False, 0.8, broken=("listener",))
    events = events_of(conversation, *ASKED, *ANSWERED, broken, WakeWordHeard(1, "x"), *ASKED,
                       *ANSWERED[:2],
                       Verdict(1, "backchannel", 1), PlaybackStopped(7, 1600, 0))  # fmt: skip
    assert {event["event_type"] for event in events} <= set(KINDS)
