"""Who has the floor: (conversation, message, now) → (conversation, actions). No I/O, no clock.

Two tables are the whole of it: TABLE, a row a message and a column a state, and EVERYWHERE, for
messages that mean the same in every state. Each cell is a move of `on_*.py`. state_machine.md is
printed from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, get_args

from appliance.dialog.actions import Action, AnnounceState, ReleaseHold
from appliance.dialog.on_answer import (
    begin,
    end,
    fell_silent,
    finish,
    locate,
    measure,
    skip,
    speak,
    stopped,
    thought_in_vain,
    tool_said,
    work_on,
)
from appliance.dialog.on_command import ask, forget, forgotten, mute, stop, switch, volume, wait
from appliance.dialog.on_failure import (
    end_again,
    found,
    lost,
    part,
    remind,
    start_thinking,
    still_broken,
)
from appliance.dialog.on_listening_mode import (
    let_be,
    let_go,
    open_floor,
    set_mode,
    talk,
    tell_listener,
    understand,
    wake,
)
from appliance.dialog.on_tool import Ringing, ToolReply, call, ring, ring_again
from appliance.dialog.on_user_speech import (
    decide,
    go_on,
    hold,
    judge,
    listen,
    listened_in_vain,
    pause,
    take,
)
from appliance.dialog.state import NEVER, DialogPolicy, DialogState
from appliance.dialog.transition import Transition
from appliance.messages.speech import (
    Abandon,
    Ask,
    CardFound,
    CardLost,
    Forget,
    Forgotten,
    ListenOnce,
    Message,
    ModeName,
    Mute,
    MuteSwitched,
    Onset,
    PartChanged,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
    RecallWanted,
    Repeat,
    Say,
    Sentence,
    SetMode,
    SetVolume,
    SpeakerReady,
    SpeakFailed,
    SpeechEnded,
    SpeechStarted,
    Spoken,
    StateName,
    StopSpeaking,
    TalkButton,
    ThinkerReady,
    ThinkingProgress,
    ThoughtEnded,
    ToolCalled,
    Verdict,
    WakeWordHeard,
    WordsHeard,
)

__all__ = [
    "DialogEvent",
    "DialogPolicy",
    "DialogState",
    "Ringing",
    "Tick",
    "ToolReply",
    "closing",
    "opening",
    "step",
]

TransitionHandler = Callable[
    [Transition, Any], None
]  # the second argument is the row's own message
STATES: tuple[StateName, ...] = get_args(StateName)
____ = None  # the message means nothing in this state

TABLE: dict[type[Message], tuple[TransitionHandler | None, ...]] = {
    #               idle    listening thinking speaking holding muted  failed
    Onset:         (hold,   hold,     hold,    pause,   pause,  hold,  hold),
    Verdict:       (judge,  judge,    judge,   decide,  decide, judge, judge),
    SpeechStarted: (listen, listen,   listen,  listen,  listen, ____,  ____),
    SpeechEnded:   (take,   take,     take,    take,    take,   ____,  ____),
    ThinkingProgress: (____,   ____,     work_on, ____,    ____,   ____,  ____),
    Sentence:      (____,   ____,     speak,   speak,   speak,  ____,  ____),
    ToolCalled:        (____,   ____,     call,    call,    call,   ____,  ____),
    ThoughtEnded:  (____,   ____,     end,     end,     end,    ____,  ____),
    SpeakFailed:   (____,   ____,     skip,    skip,    skip,   ____,  skip),
    PlaybackStarted:       (____,   ____,     begin,   begin,   begin,  ____,  ____),
    PlaybackResumed:       (____,   ____,     locate,  locate,  locate, ____,  ____),
    Ask:           (wait,   wait,     ask,     ask,     wait,   wait,  wait),
    TalkButton:          (talk,   talk,     talk,    talk,    talk,   let_be, let_be),
    ListenOnce:        (open_floor, open_floor, open_floor, open_floor, open_floor, ____, ____),
    WakeWordHeard:         (wake,   wake,     wake,    wake,    wake,   ____,  ____),
}  # fmt: skip

EVERYWHERE: dict[type[Message | ToolReply | Ringing], TransitionHandler] = {
    Spoken: measure,
    PlaybackPaused: locate,
    PlaybackFinished: finish,
    PlaybackStopped: stopped,
    PartChanged: part,
    CardLost: lost,
    CardFound: found,
    RecallWanted: remind,
    ThinkerReady: start_thinking,
    SpeakerReady: end_again,
    StopSpeaking: stop,
    Mute: mute,
    MuteSwitched: switch,
    Say: wait,
    Repeat: wait,
    SetMode: set_mode,
    WordsHeard: understand,
    Forget: forget,
    Forgotten: forgotten,
    SetVolume: volume,
    ToolReply: tool_said,
    Ringing: ring,
}

OVERDUE: dict[StateName, Callable[[Transition], None]] = {
    "listening": listened_in_vain,
    "thinking": thought_in_vain,
    "speaking": fell_silent,
    "failed": still_broken,
}  # idle and muted may last; holding ends with its hold, which lasts `verdict_s` at most


@dataclass(frozen=True)
class Tick:
    """Time has passed.

    `hold` and `pressed` are the floor's, for an onset or a press of which no message came.
    """

    hold: int | None = None
    pressed: bool = False


DialogEvent = Message | ToolReply | Ringing | Tick  # what a conversation goes on by


def step(
    conversation: DialogState, message: DialogEvent, now_s: float
) -> tuple[DialogState, tuple[Action, ...]]:
    """The conversation after `message`, and what is to be done.

    A deadline acts at a Tick only, so that mail which is there already is heard before that.
    """
    making = Transition(conversation, now_s)
    if isinstance(message, Tick):
        _tick(making, message)
    else:
        move = move_for(message, conversation.state)
        if move is not None:
            move(making, message)
    tell_listener(making)
    return making.to, tuple(making.actions)


def move_for(message: Message | ToolReply | Ringing, state: StateName) -> TransitionHandler | None:
    """The cell of the table."""
    kind: type = type(message)
    row = TABLE.get(kind)
    return row[STATES.index(state)] if row else EVERYWHERE.get(kind)


def _tick(making: Transition, tick: Tick) -> None:
    to = making.to
    if tick.hold is not None and tick.hold != to.released and not to.held:
        making.hold_for(to.rules.verdict_s)
    elif to.calming and to.held_until_s <= making.now_s:
        go_on(making, to.calming)  # an onset that is newer keeps its hold
    elif to.held_until_s <= making.now_s:
        if tick.hold is not None:
            making.change(hold=tick.hold, onset_index=0)
        go_on(making, "no verdict came")
    _tick_ear(making, tick)
    if making.to.ring_due_s <= making.now_s:
        ring_again(making)
    if making.to.until_s <= making.now_s:
        OVERDUE[making.to.state](making)


def _tick_ear(making: Transition, tick: Tick) -> None:
    """What ends by itself of the ways to the box's ear."""
    to = making.to
    if not tick.pressed:
        making.change(press_until_s=NEVER)
    elif to.press_until_s == NEVER:
        making.change(press_until_s=making.now_s + to.rules.press_s)
    elif to.press_until_s <= making.now_s:
        making.note("a button was pressed and nothing came of it")
        making.take_press()
    if to.button_until_s <= making.now_s:
        let_go(making)
    if to.open_until_s <= making.now_s:
        making.change(open_until_s=NEVER)


def opening(
    rules: DialogPolicy,
    now_s: float,
    *,
    turn: int = 0,
    hold: int = 0,
    muted: bool = False,
    switched_off: bool = False,
    mode: ModeName = "open",
) -> tuple[DialogState, tuple[Action, ...]]:
    """The conversation of a conductor that begins, from the floor's words as it finds them.

    With `turn` not 0 it takes over from one that died: that one's answer is dropped, and what was
    heard of it stays unknown. The thinker is then taken to be up; if it is not, the supervisor
    says so, or the deadline does.
    """
    again = turn > 0
    state: StateName = "muted" if muted or switched_off else "idle"
    to = DialogState(
        rules, state, turn, hold=hold, released=hold, muted=muted, switched_off=switched_off,
        mode=mode, thinker_up=again,
    )  # fmt: skip
    making = Transition(to, now_s)
    if again:
        making.send("thinker", Abandon(turn))
    making.raise_turn()
    reason = "started again" if again else "started"
    making.actions += [ReleaseHold(hold), AnnounceState(state, making.to.turn, reason)]
    tell_listener(making)
    return making.to, tuple(making.actions)


def closing(conversation: DialogState, now_s: float) -> tuple[DialogState, tuple[Action, ...]]:
    """The last step, when the box is switched off: what was heard is remembered."""
    making = Transition(replace(conversation, ringing=()), now_s)  # that goes on at the next start
    making.stop("switched off")
    making.settle_cut()
    return making.to, tuple(making.actions)


_MARKDOWN_HEAD = """\
What each message does in each state; an empty cell does nothing. Printed by `as_markdown()` of
`state_machine.py`; a test sees to it that it is up to date. The moves lie beside it, in
`on_*.py`."""


def as_markdown() -> str:
    """The tables for people: state_machine.md."""
    lines = ["# Who has the floor", "", _MARKDOWN_HEAD, ""]
    lines += [_row(["message", *STATES]), _row(["---"] * (1 + len(STATES)))]
    for message, row in TABLE.items():
        lines.append(_row([message.__name__, *map(_name, row)]))
    lines.append(_row(["*time is up*", *(_name(OVERDUE.get(state)) for state in STATES)]))
    lines += ["", _row(["in every state", "move"]), _row(["---"] * 2)]
    lines += [_row([message.__name__, _name(move)]) for message, move in EVERYWHERE.items()]
    moves: set[Callable[..., None]] = {move for row in TABLE.values() for move in row if move}
    moves |= set(EVERYWHERE.values())
    moves |= set(OVERDUE.values())
    lines += [
        "",
        *sorted(f"- **{_name(m)}**: {' '.join((m.__doc__ or '').split())}" for m in moves),
    ]
    return "\n".join(lines) + "\n"


def _name(move: Callable[..., None] | None) -> str:
    return move.__name__ if move else ""


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
