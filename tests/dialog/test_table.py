"""The transition tables: every message in every state, and the messages that they ignore."""

from __future__ import annotations

from typing import get_args

import pytest

from appliance.dialog.table import EVERYWHERE, STATES, TABLE
from appliance.messages.commands import Ask, Forget, Mute, Say, SetVolume, StopSpeaking
from appliance.messages.hearing import SpeechEnded, Verdict
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
from appliance.messages.routes import ROUTES
from appliance.messages.speech import SpeakFailed, Spoken
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import (
    RecallWanted,
    Sentence,
    ThinkerReady,
    ThinkingProgress,
    ThoughtEnded,
)
from tests.dialog.talk import BEGUN, ENDED, ONSET, YIELD, talk_in

FROM_THE_CONDUCTOR = {
    message.__name__
    for message in get_args(Message)
    if not any(r.message is message and "conductor" in r.receivers for r in ROUTES)
} - {"Forgotten"}  # the memory's answer, which the dialogue forwards to the shell

TO_ITSELF = {"ToolReply", "Ringing", "OwnerLanguage", "PlaySound"}  # the conductor's own

ONLY_WATCHED = {"Opinion", "Dropouts"}  # they change nothing

NO_MATTER_OF_IT = {  # the conductor's own
    "SetVoice",
    "Restart",
    "BoxStatus",
    "BrokerChanged",
    "HouseResponse",
    "ButtonPressed",
    "MuteSwitched",
    "ButtonFault",
    "VoicesAvailable",
    "Transcribed",
    "LiveView",
    "SoundLevels",
    "ShowLight",
    "StartTrial",
    "EndTrial",
    "SoundRecording",
    "SoundRecorded",
    "EchoMeasured",
    "BeginEnrolment",
    "AskTake",
    "TakeJudged",
    "LearnEnrolment",
    "EnrolmentLearnt",
    "OwnerVoiceChanged",
    "WakeScore",
    "WakeNearMiss",
    "TrialRefused",
    "CancelTimer",
}


def test_every_message_has_a_row_or_is_listed_as_ignored() -> None:
    rows = {message.__name__ for message in (*TABLE, *EVERYWHERE)}
    every = {message.__name__ for message in get_args(Message)}
    assert rows | FROM_THE_CONDUCTOR | ONLY_WATCHED | NO_MATTER_OF_IT == every | TO_ITSELF
    assert not set(TABLE) & set(EVERYWHERE)


def test_no_row_is_empty_and_all_name_existing_states() -> None:
    assert all(row and set(row) <= set(STATES) for row in TABLE.values())


BACK = Verdict(9, "backchannel", 300)

PIECE = SpeechEnded(9, 0, 32_000, last=False)

SAME = " ".join(STATES)


@pytest.mark.parametrize(
    ("messages", "after"),
    # the state that follows in:  idle listening thinking speaking holding muted failed
    [
        ((ONSET,), "idle listening thinking holding holding muted failed"),
        ((ONSET, BACK), "idle listening thinking speaking speaking muted failed"),
        ((ONSET, YIELD), "idle listening thinking holding holding muted failed"),
        ((ONSET, YIELD, BEGUN), "listening listening listening holding holding muted failed"),
        ((ONSET, YIELD, PIECE), "listening listening listening listening listening muted failed"),
        ((ONSET, YIELD, ENDED), "thinking thinking thinking thinking thinking muted failed"),
        ((BEGUN,), "listening listening listening listening listening muted failed"),
        ((PIECE,), "listening listening listening listening listening muted failed"),
        ((ENDED,), "thinking thinking thinking thinking thinking muted failed"),
        ((Ask("why?"),), "thinking listening thinking thinking holding thinking failed"),
        ((Say("tea"),), "speaking listening thinking speaking holding speaking failed"),
        ((StopSpeaking(),), "idle idle idle idle idle muted failed"),
        ((Mute(on=True),), "muted muted muted muted muted muted failed"),
        ((Mute(on=False),), "idle listening thinking speaking holding idle failed"),
        ((Forget(),), "idle listening idle idle idle muted failed"),
        ((SetVolume(0.5),), SAME),
        ((ThinkerReady("x"),), SAME),
        ((RecallWanted(),), SAME),
        ((ThinkingProgress(2),), SAME),
        ((PartChanged("listener", "down"),), "idle idle thinking speaking speaking muted failed"),
        ((PartChanged("thinker", "down"),), SAME),
        ((PartChanged("speaker", "down"),), SAME),
        ((PartChanged("speaker", "failed"),), SAME),
        ((PartChanged("playback", "down"),), SAME),
        ((PartChanged("playback", "failed"),), "failed failed failed failed failed failed failed"),
        ((PartChanged("listener", "failed"),), "failed failed failed failed failed failed failed"),
        ((CardLost("playback", "gone"),), "failed failed failed failed failed failed failed"),
        (
            (CardLost("playback", "gone"), CardFound("playback", "hw:0", 16_000)),
            "idle idle idle idle idle muted idle",
        ),
    ],
)  # fmt: skip
def test_each_message_in_each_state_leads_to_the_expected_state(
    messages: tuple[Message, ...], after: str
) -> None:
    for state, expected in zip(STATES, after.split(), strict=True):
        talk = talk_in(state)
        talk(*messages)
        assert (state, talk.state) == (state, expected)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    "message",
    [
        Sentence(1, 0, "of an old turn"), ThoughtEnded(1, 1, "complete"), PlaybackStarted(1, 0),
        PlaybackResumed(1, 0, 0, 0), PlaybackFinished(1, 0, 0), PlaybackStopped(1, 0, 0), Spoken(1,
        0, 0, 9, 1.0),
        SpeakFailed(1, 0, "no"), PlaybackPaused(1, 0, 0, 0), Verdict(77, "interruption", 100),
        Verdict(77, "noise", 100), Sentence(99, 0, "of a turn to come"),
    ],
)  # fmt: skip
def test_messages_of_other_turns_and_onsets_change_nothing(state: str, message: Message) -> None:
    talk = talk_in(state)
    before = talk.it
    assert talk(message) == []
    assert talk.it == before
