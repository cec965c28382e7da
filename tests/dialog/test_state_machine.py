"""The state machine: its first step, its last step, and the effect of ticks alone."""

from __future__ import annotations

from appliance.dialog.actions import AnnounceState, RaiseTurn, ReleaseHold, Remember, SendMessage
from appliance.dialog.state_machine import TELL_ONCE, final_step, initial_state
from appliance.messages.commands import StatusWanted
from appliance.messages.hearing import SetListening
from appliance.messages.routes import receivers_of
from appliance.messages.thinking import Abandon, Recall
from tests.dialog.talk import MOON, RULES, talk_in


def test_a_hold_without_a_message_is_released() -> None:
    talk = talk_in("speaking")
    talk.wait(0.5, hold=42)
    assert talk.done(ReleaseHold) == []
    talk.wait(RULES.verdict_s + 0.1, hold=42)
    assert talk.done(ReleaseHold) == [ReleaseHold(42)]


# ── start and shutdown ───────────────────────────────────────────────────────────────────────
def test_a_restarted_conductor_frees_the_floor() -> None:
    it, actions = initial_state(RULES, 5.0, turn=7, hold=4)
    assert actions == (
        SendMessage("thinker", Abandon(7)),
        RaiseTurn(8),
        ReleaseHold(4),
        AnnounceState("idle", 8, "started again"),
        SendMessage("listener", SetListening(on=True, why="open")),
        *(SendMessage(part, StatusWanted()) for part in TELL_ONCE),
    )
    assert it.parts.thinker_up


def test_only_a_restarted_conductor_asks_again_for_what_is_sent_once() -> None:
    assert set(TELL_ONCE) == receivers_of(StatusWanted)
    _, actions = initial_state(RULES, 5.0)
    assert not [a for a in actions if isinstance(a, SendMessage) and a.part in TELL_ONCE]


def test_a_restarted_conductor_leaves_a_muted_box_muted() -> None:
    it, _ = initial_state(RULES, 5.0, turn=7, hold=4, muted=True)
    assert (it.state, it.listening.muted) == ("muted", True)


def test_a_shutdown_remembers_what_was_heard() -> None:
    talk = talk_in("speaking")
    _, actions = final_step(talk.it, talk.now_s + 2.0)
    assert [a.heard for a in actions if isinstance(a, Remember)] == [MOON[0]]


def test_a_recall_message_changes_no_state() -> None:
    talk = talk_in("speaking")
    assert talk(Recall(())) == []
