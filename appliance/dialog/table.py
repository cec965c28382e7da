"""The tables of the state machine: the handler of each message in each state. Data only.

TABLE has a row for each message and a handler for each state; EVERYWHERE has the messages whose
handler is the same in every state; OVERDUE has the handler for a state that has timed out. Each
handler is a function of `on_*.py`. `scripts/reference_states.py` generates table.md from this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from appliance.dialog.on_answer import (
    OwnerLanguage,
    end_thought,
    extend_thinking,
    finish_answer,
    finish_cut_answer,
    follow_transcript,
    handle_tool_reply,
    note_position,
    note_started,
    note_timing,
    playback_timeout,
    prepare_speech,
    skip_sentence,
    speak_sentence,
    thinking_timeout,
)
from appliance.dialog.on_command import (
    apply_switch,
    forget_chosen_turn,
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
    note_words,
    open_for_one_turn,
    set_mode,
    talk_button,
    wake_word,
)
from appliance.dialog.on_tool import Ringing, ToolReply, start_ringing, use_tool
from appliance.dialog.on_trial import PlaySound, play_sound
from appliance.dialog.on_user_speech import (
    apply_verdict,
    apply_verdict_to_answer,
    end_speech,
    hold_output,
    listening_timeout,
    pause_answer,
    start_listening,
)
from appliance.dialog.transition import Transition
from appliance.messages.commands import (
    Ask,
    Forget,
    ForgetTurn,
    Forgotten,
    ListenOnce,
    Mute,
    MuteSwitched,
    Repeat,
    Say,
    SetMode,
    SetVolume,
    StateName,
    StopSpeaking,
    TalkButton,
)
from appliance.messages.hearing import (
    Onset,
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
from appliance.messages.speech import SpeakerReady, SpeakFailed, Spoken
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import (
    AnswerBegun,
    RecallWanted,
    Sentence,
    ThinkerReady,
    ThinkingProgress,
    ThoughtEnded,
)
from appliance.messages.tools import ToolCalled

# The second argument is a message of the row's type.
TransitionHandler = Callable[[Transition, Any], None]
Row = dict[StateName, TransitionHandler]  # in a state without a handler the message does nothing
STATES: tuple[StateName, ...] = get_args(StateName)


def _in_all(handler: TransitionHandler, **other: TransitionHandler | None) -> Row:
    """A row with `handler` in every state except those in `other`; None there: no handler."""
    cells = {state: other.get(state, handler) for state in STATES}
    return {state: cell for state, cell in cells.items() if cell is not None}


def _in_talk(handler: TransitionHandler, **other: TransitionHandler) -> Row:
    """A row with `handler` while an answer is generated or spoken, and the cells of `other`."""
    return dict.fromkeys(("thinking", "speaking", "holding"), handler) | other  # type: ignore[return-value]


TABLE: dict[type[Message], Row] = {
    Onset: _in_all(hold_output, speaking=pause_answer, holding=pause_answer),
    Verdict: _in_all(
        apply_verdict, speaking=apply_verdict_to_answer, holding=apply_verdict_to_answer
    ),
    SpeechStarted: _in_all(start_listening, muted=None, failed=None),
    SpeechEnded: _in_all(end_speech, muted=None, failed=None),
    ThinkingProgress: {"thinking": extend_thinking},
    Sentence: _in_talk(speak_sentence),
    ToolCalled: _in_talk(use_tool),
    ThoughtEnded: _in_talk(end_thought),
    SpeakFailed: _in_talk(skip_sentence, failed=skip_sentence),
    PlaybackStarted: _in_talk(note_started),
    PlaybackResumed: _in_talk(note_position),
    Ask: _in_all(queue_request, thinking=interrupt_with_question, speaking=interrupt_with_question),
    TalkButton: _in_all(talk_button, muted=acknowledge_press, failed=acknowledge_press),
    ListenOnce: _in_all(open_for_one_turn, muted=None, failed=None),
    WakeWordHeard: _in_all(wake_word, muted=None, failed=None),
}

EVERYWHERE: dict[
    type[Message | ToolReply | Ringing | OwnerLanguage | PlaySound], TransitionHandler
] = {
    AnswerBegun: prepare_speech,
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
    ForgetTurn: forget_chosen_turn,
    Forgotten: report_forgotten,
    SetVolume: pass_volume,
    ToolReply: handle_tool_reply,
    Ringing: start_ringing,
    OwnerLanguage: follow_transcript,
    PlaySound: play_sound,
}

OVERDUE: dict[StateName, Callable[[Transition], None]] = {
    "listening": listening_timeout,
    "thinking": thinking_timeout,
    "speaking": playback_timeout,
    "failed": failure_reminder,
}  # idle and muted have no time limit; holding ends with its hold, which has one of its own
