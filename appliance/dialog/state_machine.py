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
    end_thought,
    extend_thinking,
    finish_answer,
    finish_cut_answer,
    handle_tool_reply,
    note_position,
    note_started,
    note_timing,
    playback_timeout,
    skip_sentence,
    speak_sentence,
    thinking_timeout,
)
from appliance.dialog.on_command import (
    apply_switch,
    forget_conversation,
    interrupt_with_question,
    mute_microphone,
    pass_volume,
    queue_request,
    report_forgotten,
    stop_all,
)
from appliance.dialog.on_failure import (
    card_found,
    card_lost,
    failure_reminder,
    part_changed,
    resend_end,
    send_recall,
    thinker_ready,
)
from appliance.dialog.on_listening_mode import (
    acknowledge_press,
    end_talk,
    note_words,
    open_for_one_turn,
    send_listening_mode,
    set_mode,
    talk_button,
    wake_word,
)
from appliance.dialog.on_tool import Ringing, ToolReply, repeat_ringing, start_ringing, use_tool
from appliance.dialog.on_user_speech import (
    apply_verdict,
    apply_verdict_to_answer,
    end_speech,
    listening_timeout,
    pause_answer,
    release_hold,
    start_listening,
)
from appliance.dialog.on_user_speech import hold_output as hold
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
    Onset: (hold, hold, hold, pause_answer, pause_answer, hold, hold),
    Verdict: (
        apply_verdict,
        apply_verdict,
        apply_verdict,
        apply_verdict_to_answer,
        apply_verdict_to_answer,
        apply_verdict,
        apply_verdict,
    ),
    SpeechStarted: (
        start_listening,
        start_listening,
        start_listening,
        start_listening,
        start_listening,
        ____,
        ____,
    ),
    SpeechEnded: (end_speech, end_speech, end_speech, end_speech, end_speech, ____, ____),
    ThinkingProgress: (____, ____, extend_thinking, ____, ____, ____, ____),
    Sentence: (____, ____, speak_sentence, speak_sentence, speak_sentence, ____, ____),
    ToolCalled: (____, ____, use_tool, use_tool, use_tool, ____, ____),
    ThoughtEnded: (____, ____, end_thought, end_thought, end_thought, ____, ____),
    SpeakFailed: (____, ____, skip_sentence, skip_sentence, skip_sentence, ____, skip_sentence),
    PlaybackStarted: (____, ____, note_started, note_started, note_started, ____, ____),
    PlaybackResumed: (____, ____, note_position, note_position, note_position, ____, ____),
    Ask: (
        queue_request,
        queue_request,
        interrupt_with_question,
        interrupt_with_question,
        queue_request,
        queue_request,
        queue_request,
    ),
    TalkButton: (
        talk_button,
        talk_button,
        talk_button,
        talk_button,
        talk_button,
        acknowledge_press,
        acknowledge_press,
    ),
    ListenOnce: (
        open_for_one_turn,
        open_for_one_turn,
        open_for_one_turn,
        open_for_one_turn,
        open_for_one_turn,
        ____,
        ____,
    ),
    WakeWordHeard: (wake_word, wake_word, wake_word, wake_word, wake_word, ____, ____),
}

EVERYWHERE: dict[type[Message | ToolReply | Ringing], TransitionHandler] = {
    Spoken: note_timing,
    PlaybackPaused: note_position,
    PlaybackFinished: finish_answer,
    PlaybackStopped: finish_cut_answer,
    PartChanged: part_changed,
    CardLost: card_lost,
    CardFound: card_found,
    RecallWanted: send_recall,
    ThinkerReady: thinker_ready,
    SpeakerReady: resend_end,
    StopSpeaking: stop_all,
    Mute: mute_microphone,
    MuteSwitched: apply_switch,
    Say: queue_request,
    Repeat: queue_request,
    SetMode: set_mode,
    WordsHeard: note_words,
    Forget: forget_conversation,
    Forgotten: report_forgotten,
    SetVolume: pass_volume,
    ToolReply: handle_tool_reply,
    Ringing: start_ringing,
}

OVERDUE: dict[StateName, Callable[[Transition], None]] = {
    "listening": listening_timeout,
    "thinking": thinking_timeout,
    "speaking": playback_timeout,
    "failed": failure_reminder,
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
        move = handler_for(message, conversation.state)
        if move is not None:
            move(making, message)
    send_listening_mode(making)
    return making.to, tuple(making.actions)


def handler_for(
    message: Message | ToolReply | Ringing, state: StateName
) -> TransitionHandler | None:
    """The cell of the table."""
    kind: type = type(message)
    row = TABLE.get(kind)
    return row[STATES.index(state)] if row else EVERYWHERE.get(kind)


def _tick(making: Transition, tick: Tick) -> None:
    to = making.to
    if tick.hold is not None and tick.hold != to.released and not to.held:
        making.hold_for(to.rules.verdict_s)
    elif to.calming and to.held_until_s <= making.now_s:
        release_hold(making, to.calming)  # an onset that is newer keeps its hold
    elif to.held_until_s <= making.now_s:
        if tick.hold is not None:
            making.change(hold=tick.hold, onset_index=0)
        release_hold(making, "no verdict came")
    _tick_ear(making, tick)
    if making.to.ring_due_s <= making.now_s:
        repeat_ringing(making)
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
        making.log("a button was pressed and nothing came of it")
        making.acknowledge_press()
    if to.button_until_s <= making.now_s:
        end_talk(making)
    if to.open_until_s <= making.now_s:
        making.change(open_until_s=NEVER)


def initial_state(
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
    send_listening_mode(making)
    return making.to, tuple(making.actions)


def final_step(conversation: DialogState, now_s: float) -> tuple[DialogState, tuple[Action, ...]]:
    """The last step, when the box is switched off: what was heard is remembered."""
    making = Transition(replace(conversation, ringing=()), now_s)  # that goes on at the next start
    making.stop_all("switched off")
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
