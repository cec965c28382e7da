"""The dialogue's state machine: (state, message, now) → (state, actions). No I/O, no clock.

table.py names the handler for each message and state; this module looks it up and calls it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from appliance.dialog.actions import Action, AnnounceState, PartName, ReleaseHold
from appliance.dialog.announcements import report_announcements
from appliance.dialog.hold import OutputHold
from appliance.dialog.listening_state import ListeningState
from appliance.dialog.on_answer import OwnerLanguage
from appliance.dialog.on_listening_mode import (
    end_talk,
    send_listening_mode,
)
from appliance.dialog.on_tool import Ringing, ToolReply, repeat_ringing
from appliance.dialog.on_trial import PlaySound
from appliance.dialog.on_user_speech import give_way, resume
from appliance.dialog.part_availability import PartAvailability
from appliance.dialog.policy import NEVER, DialogPolicy
from appliance.dialog.ring_schedule import RingSchedule
from appliance.dialog.state import DialogState
from appliance.dialog.table import EVERYWHERE, OVERDUE, TABLE, TransitionHandler
from appliance.dialog.transition import Transition
from appliance.language.catalogue import SOURCE
from appliance.messages.commands import ModeName, StateName, StatusWanted
from appliance.messages.registry import Message
from appliance.messages.thinking import Abandon

# Parts that report some facts once, or only when they change; a new conductor asks for them.
TELL_ONCE: tuple[PartName, ...] = (
    "capture", "playback", "thinker", "speaker", "link", "panel",
)  # fmt: skip


@dataclass(frozen=True)
class Tick:
    """Time has passed: deadlines are checked.

    `hold` and `pressed` are read from the floor, to detect an onset or a press whose message was
    lost.
    """

    hold: int | None = None
    pressed: bool = False


DialogEvent = (
    Message | ToolReply | Ringing | OwnerLanguage | PlaySound | Tick
)  # inputs of the state machine


def step(
    dialog: DialogState, message: DialogEvent, now_s: float
) -> tuple[DialogState, tuple[Action, ...]]:
    """Return the state of the dialogue after `message`, and the actions to carry out.

    Deadlines are checked at a Tick only, so that messages which have already arrived come first.
    """
    transition = Transition(dialog, now_s)
    if isinstance(message, Tick):
        _tick(transition, message)
    else:
        handler = handler_for(message, dialog.state)
        if handler is not None:
            handler(transition, message)
    report_announcements(transition, dialog, message)
    send_listening_mode(transition)
    return transition.next, tuple(transition.actions)


def handler_for(
    message: Message | ToolReply | Ringing | OwnerLanguage | PlaySound, state: StateName
) -> TransitionHandler | None:
    """The handler for a message in `state`; None if the message does nothing there."""
    kind: type = type(message)
    row = TABLE.get(kind)
    return EVERYWHERE.get(kind) if row is None else row.get(state)


def _tick(transition: Transition, tick: Tick) -> None:
    hold = transition.next.hold
    if tick.hold is not None and tick.hold != hold.released and not hold.open:
        transition.hold_for(transition.next.policy.verdict_s)
    elif hold.resume_reason and hold.until_s <= transition.now_s:
        resume(transition, hold.resume_reason)  # a newer onset keeps its hold
    elif hold.yielding and hold.until_s <= transition.now_s and transition.next.answer is not None:
        give_way(transition)
    elif hold.until_s <= transition.now_s:
        if tick.hold is not None:
            transition.change(hold=hold.adopt(tick.hold))
        resume(transition, "no verdict came")
    _tick_listening(transition, tick)
    if transition.next.ring_due_s <= transition.now_s:
        repeat_ringing(transition)
    if transition.next.until_s <= transition.now_s:
        OVERDUE[transition.next.state](transition)


def _tick_listening(transition: Transition, tick: Tick) -> None:
    """Apply the time limits of a pending press, of the talk button and of the open floor."""
    listening = transition.next.listening
    if not tick.pressed:
        transition.change(listening=listening.acknowledge_press())
    elif listening.press_until_s == NEVER:
        until_s = transition.now_s + transition.next.policy.press_s
        transition.change(listening=listening.await_press(until_s))
    elif listening.press_until_s <= transition.now_s:
        transition.log("a press of the button was not followed by a message")
        transition.acknowledge_press()
    if listening.button_until_s <= transition.now_s:
        end_talk(transition)
    if listening.open_until_s <= transition.now_s:
        transition.change(listening=transition.next.listening.need_wake_word())


def initial_state(
    policy: DialogPolicy,
    now_s: float,
    *,
    turn: int = 0,
    hold: int = 0,
    muted: bool = False,
    switched_off: bool = False,
    mode: ModeName = "open",
    language: str = SOURCE,
) -> tuple[DialogState, tuple[Action, ...]]:
    """Return the first state of a conductor, from the floor's words, and its first actions.

    A `turn` other than 0 means that this conductor replaces one that died. The answer of that one
    is dropped, and its heard part stays unknown. The thinker is assumed to be up; if it is not, the
    supervisor reports it, or the thinking timeout ends the wait. The parts in TELL_ONCE are asked
    for their status.
    """
    again = turn > 0
    state: StateName = "muted" if muted or switched_off else "idle"
    dialog = DialogState(
        policy, state, turn, hold=OutputHold(hold, hold),
        listening=ListeningState(mode, muted, switched_off), parts=PartAvailability(again),
        language=language,
    )  # fmt: skip
    transition = Transition(dialog, now_s)
    if again:
        transition.send("thinker", Abandon(turn))
    transition.raise_turn()
    reason = "started again" if again else "started"
    transition.actions += [ReleaseHold(hold), AnnounceState(state, transition.next.turn, reason)]
    send_listening_mode(transition)
    if again:
        for part in TELL_ONCE:
            transition.send(part, StatusWanted())
    return transition.next, tuple(transition.actions)


def final_step(dialog: DialogState, now_s: float) -> tuple[DialogState, tuple[Action, ...]]:
    """The last step before the conductor stops: the heard part of the answer is remembered."""
    silent = replace(dialog, ringing=RingSchedule())  # it rings again after the next start
    transition = Transition(silent, now_s)
    transition.stop_all("switched off")
    transition.settle_cut()
    return transition.next, tuple(transition.actions)
