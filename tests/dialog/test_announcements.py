"""An announcement that the page asked for is reported once: heard to its end, or not."""

from __future__ import annotations

import pytest

from appliance.dialog.actions import AnnounceState, SendMessage
from appliance.dialog.policy import NEVER
from appliance.dialog.request_queue import MOST_WAITING
from appliance.dialog.state_machine import DialogEvent
from appliance.messages.commands import (
    Announced,
    Forget,
    Mute,
    MuteSwitched,
    Say,
    StopSpeaking,
    TalkButton,
)
from appliance.messages.hearing import Verdict
from appliance.messages.playback import (
    CardLost,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.speech import SpeakFailed, Spoken
from tests.dialog.talk import ONSET, YIELD, Talk, talk_in

FRAMES = 48_000
WANTED = Say("Somebody wants to open my page.", number=7)


def begin(talk: Talk) -> int:
    """The announcement sounds. Returns its turn."""
    talk(WANTED)
    turn = talk.turn
    talk(Spoken(turn, 0, 0, FRAMES, 5.0), PlaybackStarted(turn, 1))
    assert talk.sent(Announced, ever=True) == []
    return turn


@pytest.mark.parametrize("state", ["idle", "muted"])
def test_an_announcement_is_heard_when_its_last_sample_has_left(state: str) -> None:
    talk = Talk() if state == "idle" else talk_in(state)
    turn = begin(talk)
    talk(PlaybackFinished(turn, FRAMES, 1))
    assert talk.sent(Announced) == [Announced(7, heard=True)]
    talk.wait(60.0)
    assert talk.sent(Announced) == []


def test_a_murmur_over_an_announcement_does_not_end_it() -> None:
    talk = Talk()
    turn = begin(talk)
    talk(ONSET, PlaybackPaused(turn, 9, 9000, 1), Verdict(9, "backchannel", 300))
    talk(PlaybackResumed(turn, 9, 9000, 1), PlaybackFinished(turn, FRAMES, 1))
    assert talk.sent(Announced) == [Announced(7, heard=True)]


@pytest.mark.parametrize(
    "message",
    [TalkButton(pressed=True), StopSpeaking(), Mute(on=True), MuteSwitched(off=True), Forget(),
     CardLost("playback", "unplugged"), PlaybackStopped(3, 9000, 1)],
)  # fmt: skip
def test_an_announcement_that_is_cut_is_not_heard(message: DialogEvent) -> None:
    talk = Talk()
    turn = begin(talk)
    if isinstance(message, PlaybackStopped):
        message = PlaybackStopped(turn, 9000, 1)
    talk(message)
    assert talk.sent(Announced) == [Announced(7, heard=False)]
    talk(PlaybackFinished(turn, FRAMES, 1))
    assert talk.sent(Announced, ever=True) == [Announced(7, heard=False)], "a late report"


def test_an_announcement_that_is_spoken_over_is_not_heard() -> None:
    talk = Talk()
    turn = begin(talk)
    talk(ONSET, PlaybackPaused(turn, 9, 9000, 1), YIELD, PlaybackStopped(turn, 9000, 1))
    assert talk.sent(Announced, ever=True) == [Announced(7, heard=False)]


def test_an_announcement_that_no_voice_could_speak_is_not_heard() -> None:
    talk = Talk()
    talk(WANTED)
    talk(SpeakFailed(talk.turn, 0, "no voice"), PlaybackFinished(talk.turn, 0, 1))
    assert talk.sent(Announced, ever=True) == [Announced(7, heard=False)]


def test_an_announcement_whose_end_is_never_reported_is_not_heard() -> None:
    talk = Talk()
    begin(talk)
    talk.wait(min(120.0, NEVER))
    assert talk.sent(Announced, ever=True) == [Announced(7, heard=False)]


def test_an_announcement_that_the_queue_refuses_or_drops_is_not_heard() -> None:
    talk = talk_in("speaking")
    talk(WANTED)
    assert talk.sent(Announced) == []
    talk(StopSpeaking())
    assert talk.sent(Announced) == [Announced(7, heard=False)]
    talk = talk_in("speaking")
    talk(*(Say(f"Thing {number}.") for number in range(MOST_WAITING)))
    talk(WANTED)
    assert talk.sent(Announced) == [Announced(7, heard=False)]


def test_the_report_precedes_what_sounds_next() -> None:
    talk = Talk()
    turn = begin(talk)
    talk(Say("Dinner is ready."), PlaybackFinished(turn, FRAMES, 1))
    told = [
        each for each in talk.said if isinstance(each, AnnounceState)
        or (isinstance(each, SendMessage) and isinstance(each.message, Announced))
    ]  # fmt: skip
    assert told[0] == SendMessage("page", Announced(7, heard=True))
    assert [each.state for each in told if isinstance(each, AnnounceState)] == ["idle", "speaking"]


def test_an_announcement_without_a_number_is_not_reported() -> None:
    talk = Talk()
    talk(Say("Dinner is ready."))
    talk(PlaybackStarted(talk.turn, 1), PlaybackFinished(talk.turn, FRAMES, 1))
    assert talk.sent(Announced, ever=True) == []
