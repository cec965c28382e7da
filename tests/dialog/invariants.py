"""What must hold in every state of the dialogue: the claims in the docstrings of its parts."""

from __future__ import annotations

from appliance.dialog.hold import OutputHold
from appliance.dialog.listening_state import ListeningState
from appliance.dialog.policy import NEVER
from appliance.dialog.ring_schedule import RingSchedule
from appliance.dialog.state import DialogState


def hold_is_sound(hold: OutputHold) -> bool:
    """A closed hold has released its onset, and waits for nothing."""
    closed = (hold.released, hold.resume_reason, hold.rapid_since_s) == (hold.serial, "", NEVER)
    return hold.open or closed


def listening_is_sound(it: ListeningState) -> bool:
    """Button and wake word count in their modes only, and nothing is open without a microphone."""
    return (
        (not it.button_down or it.mode == "push_to_talk")
        and (it.open_until_s == NEVER or it.mode == "wake_word")
        and (it.open_until_s == NEVER or not it.opened_for_turn)
        and not (it.microphone_off and (it.button_down or it.opened_for_turn))
    )


def ringing_is_sound(ringing: RingSchedule) -> bool:
    """Where nothing rings, nothing is left of what rang before."""
    return ringing.rings or ringing == RingSchedule()


def is_sound(state: DialogState) -> bool:
    return (
        hold_is_sound(state.hold)
        and listening_is_sound(state.listening)
        and ringing_is_sound(state.ringing)
        and (state.cut is None or not state.cut.answer.sounding)
    )
