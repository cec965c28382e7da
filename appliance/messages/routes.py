"""The table of routes: sender and receiver of each message, when it is sent, and what it means.

Every message goes to the conductor or comes from it. The conductor derives from this table which
messages it passes on and which parts get the state. `shell` is a command on this machine, through
the control socket. A message without a row, or a row without a sender or handler in the code,
fails a test.
"""

from __future__ import annotations

from dataclasses import dataclass

from appliance.messages.commands import (
    Ask,
    BoxStatus,
    BrokerChanged,
    ButtonFault,
    ButtonPressed,
    CommandRefused,
    Forget,
    ForgetTurn,
    Forgotten,
    ListenOnce,
    Mute,
    MuteSwitched,
    Repeat,
    Restart,
    Say,
    SetMode,
    SetVoice,
    SetVolume,
    StateChanged,
    StatusWanted,
    StopSpeaking,
    TalkButton,
    VoicesAvailable,
)
from appliance.messages.enrolling import (
    AskTake,
    BeginEnrolment,
    EnrolmentLearnt,
    LearnEnrolment,
    OwnerVoiceChanged,
    TakeJudged,
)
from appliance.messages.hearing import (
    Onset,
    Opinion,
    SetListening,
    SpeechEnded,
    SpeechStarted,
    Verdict,
    WakeNearMiss,
    WakeScore,
    WakeWordHeard,
    WordsHeard,
)
from appliance.messages.message import BaseMessage
from appliance.messages.playback import (
    CardFound,
    CardLost,
    Dropouts,
    PlaybackFinished,
    PlaybackPaused,
    PlaybackResumed,
    PlaybackStarted,
    PlaybackStopped,
)
from appliance.messages.speech import (
    EndAnswer,
    PrepareSpeech,
    Speak,
    SpeakerReady,
    SpeakFailed,
    Spoken,
)
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import (
    Abandon,
    AnswerBegun,
    AnswerHeard,
    Recall,
    RecallWanted,
    Sentence,
    Think,
    ThinkerReady,
    ThinkingProgress,
    ThoughtEnded,
    Transcribed,
)
from appliance.messages.tools import (
    CancelTimer,
    HouseRequest,
    HouseResponse,
    TimerEvent,
    TimersList,
    TimersStatus,
    ToolAnswered,
    ToolCalled,
)
from appliance.messages.trying import (
    EchoMeasured,
    EndTrial,
    ShowLight,
    SoundRecorded,
    SoundRecording,
    StartTrial,
    TrialRefused,
)
from appliance.messages.viewing import LiveView, SoundLevels


@dataclass(frozen=True)
class Route:
    """One row. `means` is "" where the conductor passes the message on unchanged."""

    message: type[BaseMessage]
    senders: frozenset[str]
    receivers: frozenset[str]
    when: str
    means: str


def _row(message: type[BaseMessage], senders: str, receivers: str, when: str, means: str) -> Route:
    return Route(message, frozenset(senders.split()), frozenset(receivers.split()), when, means)


# fmt: off
ROUTES: tuple[Route, ...] = (
    #    message, from, to, when, what it means
    _row(Onset, "listener", "conductor", "each onset",
         "sound begins that may be the owner; playback is paused already"),
    _row(Onset, "conductor", "page", "the same", ""),
    _row(Opinion, "listener", "conductor", "every 40 ms of an interjection",
         "probabilities so far"),
    _row(Opinion, "conductor", "page", "the same", ""),
    _row(Verdict, "listener", "conductor", "once an interjection", "what the sound was"),
    _row(Verdict, "conductor", "link page", "the same", ""),
    _row(SpeechStarted, "listener", "conductor", "once an utterance",
         "its samples flow into the ring `heard`"),
    _row(SpeechStarted, "conductor", "link page", "the same", ""),
    _row(SpeechEnded, "listener", "conductor", "at each end of a piece",
         "so many samples are in the ring `heard`"),
    _row(SpeechEnded, "conductor", "link page", "the same", ""),
    _row(SetListening, "conductor", "listener", "on change, and when it comes up",
         "whose speech is meant for the box"),
    _row(WordsHeard, "words", "conductor", "as words are recognised",
         "the words of an interjection so far"),
    _row(WordsHeard, "conductor", "listener", "the same", "evidence for the verdict"),
    _row(WakeWordHeard, "words", "conductor", "each wake word", "it ended before this sample"),
    _row(WakeWordHeard, "conductor", "link page", "the same", ""),
    _row(WakeNearMiss, "words", "conductor", "each near miss", "what was almost the wake word"),
    _row(WakeNearMiss, "conductor", "page", "the same", ""),
    _row(WakeScore, "words", "conductor", "every 200 ms, while somebody looks",
         "how near the wake word is"),
    _row(WakeScore, "conductor", "page", "the same", ""),
    _row(Think, "conductor", "thinker", "once a question", "answer this"),
    _row(Abandon, "conductor", "thinker", "when an answer is cut", "stop thinking about it"),
    _row(AnswerHeard, "conductor", "thinker", "once an answer",
         "how much of it left the loudspeaker"),
    _row(AnswerHeard, "conductor", "link", "the same, if words may leave", "how much was heard"),
    _row(AnswerHeard, "conductor", "page", "the same, while words are shown", "the same"),
    _row(Recall, "conductor", "thinker", "when it is wanted", "earlier turns"),
    _row(RecallWanted, "thinker", "conductor", "at its start, and when idle",
         "it asks for a Recall"),
    _row(Forget, "conductor", "thinker", "on command", "drop the history, or its last turn"),
    _row(ThinkerReady, "thinker", "conductor", "once a start, and when it is asked",
         "the first question would be answered now"),
    _row(ThinkingProgress, "thinker", "conductor", "while no sentence has come",
         "the model gets on"),
    _row(AnswerBegun, "thinker", "conductor", "in a silence that may end a question",
         "the first words of an answer that may not be wanted"),
    _row(Sentence, "thinker", "conductor", "each sentence", "a sentence of the answer"),
    _row(Sentence, "conductor", "page", "while words are shown", "the same"),
    _row(ThoughtEnded, "thinker", "conductor", "once an answer", "no more sentences follow"),
    _row(Transcribed, "thinker", "conductor", "when idle",
         "what the owner said, for the memory alone"),
    _row(ToolCalled, "thinker", "conductor", "each call", "the model calls a tool"),
    _row(ToolAnswered, "conductor", "thinker", "each call", "what the tool said"),
    _row(HouseRequest, "conductor", "link", "each request", "ask the house"),
    _row(HouseResponse, "link", "conductor", "each request", "what the house said"),
    _row(TimerEvent, "conductor", "link", "on change", "something about one timer"),
    _row(TimersStatus, "conductor", "link panel", "on change, and when it comes up",
         "what is set"),
    _row(TimersList, "conductor", "page", "on change, and when it comes up",
         "what is set, each with its name"),
    _row(CancelTimer, "page", "conductor", "on command", "take that timer away"),
    _row(PrepareSpeech, "conductor", "speaker", "the same",
         "the next sentence may be this one"),
    _row(Speak, "conductor", "speaker", "each sentence", "say this"),
    _row(EndAnswer, "conductor", "speaker", "once an answer", "nothing follows in it"),
    _row(SetVoice, "link page shell", "conductor", "on command", "speak with that voice"),
    _row(SetVoice, "conductor", "speaker", "on change, and when it comes up", "the same"),
    _row(SpeakerReady, "speaker", "conductor", "once a start, and when it is asked",
         "it can speak"),
    _row(VoicesAvailable, "speaker", "conductor", "on change, and when it is asked",
         "voices that have shown that they can speak"),
    _row(Spoken, "speaker", "conductor", "each sentence", "it lies in the ring `voice`"),
    _row(Spoken, "conductor", "page", "the same", ""),
    _row(SpeakFailed, "speaker", "conductor", "on failure", "a sentence could not be spoken"),
    _row(PlaybackStarted, "playback", "conductor", "once an answer",
         "its first sample leaves the loudspeaker"),
    _row(PlaybackStarted, "conductor", "link page", "the same", ""),
    _row(PlaybackPaused, "playback", "conductor", "each pause", "silent from this sample on"),
    _row(PlaybackPaused, "conductor", "page", "the same", ""),
    _row(PlaybackResumed, "playback", "conductor", "each resume", "sounding again"),
    _row(PlaybackResumed, "conductor", "page", "the same", ""),
    _row(PlaybackFinished, "playback", "conductor", "once an answer", "its last sample left"),
    _row(PlaybackFinished, "conductor", "link page", "the same", ""),
    _row(PlaybackStopped, "playback", "conductor", "when an answer is cut",
         "how much of it was heard"),
    _row(PlaybackStopped, "conductor", "link page", "the same", ""),
    _row(SetVolume, "link page shell", "conductor", "on command", "how loud the voice is"),
    _row(SetVolume, "conductor", "playback", "on change, and when it comes up", "the same"),
    _row(CardLost, "capture playback", "conductor", "on change, and when it is asked",
         "the sound card is gone"),
    _row(CardFound, "capture playback", "conductor", "on change, and when it is asked",
         "the sound card is open"),
    _row(Dropouts, "capture playback", "conductor", "on change", "how many there were"),
    _row(PartChanged, "supervisor", "conductor", "on change",
         "a process came up, went down, or failed"),
    _row(Mute, "panel link page shell", "conductor", "on command", "the microphone off or on"),
    _row(StopSpeaking, "panel link page shell", "conductor", "on command", "end the answer"),
    _row(SetMode, "link page shell", "conductor", "on command", "the listening mode"),
    _row(TalkButton, "panel", "conductor", "on change", "it went down or came up"),
    _row(ListenOnce, "link", "conductor", "on command", "open the floor for one turn"),
    _row(Repeat, "panel", "conductor", "on command", "say the last answer again"),
    _row(Say, "panel link page shell", "conductor", "on command", "speak this aloud"),
    _row(Ask, "link shell", "conductor", "on command", "as if the owner had said it"),
    _row(Forget, "panel page shell", "conductor", "on command", "forget what was said"),
    _row(ForgetTurn, "page", "conductor", "on command", "forget one turn"),
    _row(ForgetTurn, "conductor", "thinker", "the same", "drop the history, and ask for a Recall"),
    _row(Forgotten, "conductor", "page shell", "once a Forget", "what became of it"),
    _row(Restart, "panel link page shell", "conductor", "on command", "begin anew"),
    _row(Restart, "conductor", "supervisor", "the same", ""),
    _row(CommandRefused, "conductor", "shell", "on refusal", "why a command is not carried out"),
    _row(ButtonPressed, "panel", "conductor", "each press", "what was done with the button"),
    _row(ButtonPressed, "conductor", "link page", "the same", ""),
    _row(MuteSwitched, "panel", "conductor", "on change", "the switch cuts the microphone, or not"),
    _row(ButtonFault, "panel", "conductor", "on change, and when it is asked",
         "the button is stuck or bounces"),
    _row(BrokerChanged, "link", "conductor", "on change, and when it is asked",
         "the broker was reached, or is gone"),
    _row(StateChanged, "conductor", "listener supervisor panel link page shell",
         "on change, and when it comes up",
         "the dialogue's state"),
    _row(StatusWanted, "conductor", "capture playback thinker speaker link panel",
         "once it took over", "tell anew what is told once or at a change only"),
    _row(BoxStatus, "conductor", "panel link page words", "on change, and when it comes up",
         "how the box stands"),
    _row(LiveView, "page", "conductor", "on change, every 2 s while somebody looks",
         "somebody looks at the page, or nobody"),
    _row(LiveView, "conductor", "listener words", "on change, and when it comes up",
         "measure levels, or do not"),
    _row(SoundLevels, "listener", "conductor", "every 200 ms, while somebody looks",
         "how loud both voices were"),
    _row(SoundLevels, "conductor", "page", "the same", ""),
    _row(ShowLight, "page", "conductor", "on command", "a row of the light's table, to learn it"),
    _row(ShowLight, "conductor", "panel", "the same", ""),
    _row(StartTrial, "page", "conductor", "on command", "try something with sound"),
    _row(StartTrial, "conductor", "listener", "the same", ""),
    _row(TrialRefused, "listener", "conductor", "on refusal", "why it cannot be tried now"),
    _row(TrialRefused, "conductor", "page", "the same, and its own refusals", ""),
    _row(EndTrial, "page", "conductor", "when nobody looks any more", "it is to go on no more"),
    _row(EndTrial, "conductor", "listener", "the same", ""),
    _row(SoundRecording, "listener", "conductor", "on change", "the microphone is recorded"),
    _row(SoundRecording, "conductor", "page panel", "the same", ""),
    _row(SoundRecorded, "listener", "conductor", "once a recording", "how it was"),
    _row(SoundRecorded, "conductor", "page", "the same", ""),
    _row(EchoMeasured, "listener", "conductor", "once a sound", "what the canceller took away"),
    _row(EchoMeasured, "conductor", "page", "the same", ""),
    _row(BeginEnrolment, "page", "conductor", "on command", "learn an owner's voice"),
    _row(BeginEnrolment, "conductor", "listener", "the same", ""),
    _row(AskTake, "page", "conductor", "each take", "ask for a word aloud, and record it"),
    _row(AskTake, "conductor", "listener", "the same", ""),
    _row(TakeJudged, "listener", "conductor", "each take", "whether it is of use"),
    _row(TakeJudged, "conductor", "page", "the same", ""),
    _row(LearnEnrolment, "page", "conductor", "after the last take", "learn from them"),
    _row(LearnEnrolment, "conductor", "listener", "the same", ""),
    _row(EnrolmentLearnt, "listener", "conductor", "once an enrolment", "what came of it"),
    _row(EnrolmentLearnt, "conductor", "page", "the same", ""),
    _row(OwnerVoiceChanged, "page", "conductor", "when it was deleted",
         "what was enrolled is to be read again"),
    _row(OwnerVoiceChanged, "conductor", "listener", "the same", ""),
)
# fmt: on


def receivers_of(message: type[BaseMessage], sender: str = "conductor") -> frozenset[str]:
    """The parts that `sender` sends `message` to."""
    rows = [r.receivers for r in ROUTES if r.message is message and sender in r.senders]
    return frozenset[str]().union(*rows)


def passed_on_to(part: str) -> tuple[type[BaseMessage], ...]:
    """The messages of other parts that the conductor passes on unchanged to `part`."""
    return tuple(r.message for r in ROUTES if part in r.receivers and not r.means)
