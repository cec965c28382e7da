"""The table of routes: sender and receiver of each message, when it is sent, and what it means.

Every message goes to the conductor or comes from it. The conductor derives from this table which
messages it passes on and which parts get the state. `shell` is a command on this machine, through
the control socket. A message without a row, or a row without a sender or handler in the code,
fails a test.
"""

from __future__ import annotations

from dataclasses import dataclass

from appliance.messages.commands import (
    Announced,
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
    RewindAnswer,
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
         "a sound has begun that may be the owner; playback is already paused"),
    _row(Onset, "conductor", "page", "as above", ""),
    _row(Opinion, "listener", "conductor", "every 40 ms of an interjection",
         "class probabilities so far"),
    _row(Opinion, "conductor", "page", "as above", ""),
    _row(Verdict, "listener", "conductor", "once an interjection", "the class of the sound"),
    _row(Verdict, "conductor", "link page", "as above", ""),
    _row(SpeechStarted, "listener", "conductor", "once an utterance",
         "an utterance began; its samples go to ring `heard`"),
    _row(SpeechStarted, "conductor", "link page", "as above", ""),
    _row(SpeechEnded, "listener", "conductor", "once a piece",
         "a piece of the utterance is complete in ring `heard`"),
    _row(SpeechEnded, "conductor", "link page", "as above", ""),
    _row(SetListening, "conductor", "listener", "on change, and when it comes up",
         "which speech is accepted"),
    _row(WordsHeard, "words", "conductor", "as words are recognised",
         "words of an interjection so far"),
    _row(WordsHeard, "conductor", "listener", "as above", "evidence for the verdict"),
    _row(WakeWordHeard, "words", "conductor", "each wake word", "it ended before this sample"),
    _row(WakeWordHeard, "conductor", "link page", "as above", ""),
    _row(WakeNearMiss, "words", "conductor", "each near miss", "its score and the threshold"),
    _row(WakeNearMiss, "conductor", "page", "as above", ""),
    _row(WakeScore, "words", "conductor", "every 200 ms while a page is open",
         "recent score of the wake word"),
    _row(WakeScore, "conductor", "page", "as above", ""),
    _row(Think, "conductor", "thinker", "once a question", "answer this question"),
    _row(Abandon, "conductor", "thinker", "when an answer is cut", "stop generating the answer"),
    _row(AnswerHeard, "conductor", "thinker", "once an answer",
         "how much of it left the loudspeaker"),
    _row(AnswerHeard, "conductor", "link", "as above, if `link.words` is set", "as above"),
    _row(AnswerHeard, "conductor", "page", "as above, while words are shown", "as above"),
    _row(Recall, "conductor", "thinker", "after RecallWanted", "earlier turns"),
    _row(RecallWanted, "thinker", "conductor", "at its start, and when idle",
         "send a Recall"),
    _row(Forget, "conductor", "thinker", "on command", "drop the history, or its last turn"),
    _row(ThinkerReady, "thinker", "conductor", "once a start, and on StatusWanted",
         "it can answer a question now"),
    _row(ThinkingProgress, "thinker", "conductor", "until the first sentence",
         "the model makes progress"),
    _row(AnswerBegun, "thinker", "conductor", "in a silence that may end a question",
         "first words of an answer, not to be played yet"),
    _row(Sentence, "thinker", "conductor", "each sentence", "one sentence of the answer"),
    _row(Sentence, "conductor", "page", "while words are shown", "as above"),
    _row(ThoughtEnded, "thinker", "conductor", "once an answer", "no sentence follows"),
    _row(Transcribed, "thinker", "conductor", "when idle",
         "transcript of a question, for the memory alone"),
    _row(ToolCalled, "thinker", "conductor", "each call", "the model calls a tool"),
    _row(ToolAnswered, "conductor", "thinker", "each call", "the result of the tool"),
    _row(HouseRequest, "conductor", "link", "each request", "send a request to the house"),
    _row(HouseResponse, "link", "conductor", "each request", "reply of the house"),
    _row(TimerEvent, "conductor", "link", "on change", "event of one timer"),
    _row(TimersStatus, "conductor", "link panel", "on change, and when it comes up",
         "counts of pending timers and alarms"),
    _row(TimersList, "conductor", "page", "on change, and when it comes up",
         "all timers and alarms, with names"),
    _row(CancelTimer, "page", "conductor", "on command", "cancel a timer or alarm"),
    _row(PrepareSpeech, "conductor", "speaker", "before a sentence",
         "synthesise this ahead, without playing it"),
    _row(Speak, "conductor", "speaker", "each sentence", "speak this sentence"),
    _row(EndAnswer, "conductor", "speaker", "once an answer", "no sentence follows"),
    _row(SetVoice, "link page shell", "conductor", "on command", "use this voice"),
    _row(SetVoice, "conductor", "speaker", "on change, and when it comes up", "as above"),
    _row(SpeakerReady, "speaker", "conductor", "once a start, and on StatusWanted",
         "a voice is loaded"),
    _row(VoicesAvailable, "speaker", "conductor", "on change, and on StatusWanted",
         "voices that passed their probe"),
    _row(Spoken, "speaker", "conductor", "each sentence", "it is in ring `voice`"),
    _row(Spoken, "conductor", "page", "as above", ""),
    _row(SpeakFailed, "speaker", "conductor", "on failure", "a sentence cannot be spoken"),
    _row(PlaybackStarted, "playback", "conductor", "once an answer",
         "its first sample leaves the loudspeaker"),
    _row(PlaybackStarted, "conductor", "link page", "as above", ""),
    _row(PlaybackPaused, "playback", "conductor", "each pause", "silence from this sample on"),
    _row(PlaybackPaused, "conductor", "page", "as above", ""),
    _row(PlaybackResumed, "playback", "conductor", "each resume", "playback continues"),
    _row(PlaybackResumed, "conductor", "page", "as above", ""),
    _row(PlaybackFinished, "playback", "conductor", "once an answer",
         "its last sample left the loudspeaker"),
    _row(PlaybackFinished, "conductor", "link page", "as above", ""),
    _row(PlaybackStopped, "playback", "conductor", "when an answer is cut",
         "how much of it was played"),
    _row(PlaybackStopped, "conductor", "link page", "as above", ""),
    _row(RewindAnswer, "conductor", "playback", "when the owner asks for it",
         "resume from an earlier position"),
    _row(SetVolume, "link page shell", "conductor", "on command", "set the loudness of the voice"),
    _row(SetVolume, "conductor", "playback", "on change, and when it comes up", "as above"),
    _row(CardLost, "capture playback", "conductor", "on change, and on StatusWanted",
         "the sound card was removed or cannot be opened"),
    _row(CardFound, "capture playback", "conductor", "on change, and on StatusWanted",
         "the sound card is open"),
    _row(Dropouts, "capture playback", "conductor", "on change", "number of dropouts so far"),
    _row(PartChanged, "supervisor", "conductor", "on change",
         "a process is up, down or failed"),
    _row(Mute, "panel link page shell", "conductor", "on command", "microphone off or on"),
    _row(StopSpeaking, "panel link page shell", "conductor", "on command", "end the answer"),
    _row(SetMode, "link page shell", "conductor", "on command", "set the listening mode"),
    _row(TalkButton, "panel", "conductor", "on change", "the talk button went down or came up"),
    _row(ListenOnce, "link", "conductor", "on command", "open the floor for one turn"),
    _row(Repeat, "panel", "conductor", "on command", "say the last answer again"),
    _row(Say, "panel link page shell", "conductor", "on command", "speak an announcement"),
    _row(Announced, "conductor", "page", "once a Say with a number", "whether it was heard"),
    _row(Ask, "link shell", "conductor", "on command", "a question as text"),
    _row(Forget, "panel page shell", "conductor", "on command", "forget the conversation"),
    _row(ForgetTurn, "page", "conductor", "on command", "forget one turn of the memory"),
    _row(ForgetTurn, "conductor", "thinker", "as above", "drop the history and send RecallWanted"),
    _row(Forgotten, "conductor", "page shell", "once a Forget", "whether it succeeded"),
    _row(Restart, "panel link page shell", "conductor", "on command", "restart all parts"),
    _row(Restart, "conductor", "supervisor", "as above", ""),
    _row(CommandRefused, "conductor", "shell", "on refusal", "why a command is not carried out"),
    _row(ButtonPressed, "panel", "conductor", "each gesture", "a gesture of the button"),
    _row(ButtonPressed, "conductor", "link page", "as above", ""),
    _row(MuteSwitched, "panel", "conductor", "on change", "whether the switch cuts the microphone"),
    _row(ButtonFault, "panel", "conductor", "on change, and on StatusWanted",
         "the button is stuck or bounces, or works again"),
    _row(BrokerChanged, "link", "conductor", "on change, and on StatusWanted",
         "the broker was reached or lost"),
    _row(StateChanged, "conductor", "listener supervisor panel link page shell",
         "on change, and when it comes up",
         "the dialogue's state, which the light and Home Assistant show"),
    _row(StatusWanted, "conductor", "capture playback thinker speaker link panel",
         "after it replaced a crashed one", "send again what is sent once or on change"),
    _row(BoxStatus, "conductor", "panel link page words", "on change, and when it comes up",
         "status of the box"),
    _row(LiveView, "page", "conductor", "on change, every 2 s while one is open",
         "whether a page is open"),
    _row(LiveView, "conductor", "listener words", "on change, and when it comes up",
         "start or stop measuring levels and scores"),
    _row(SoundLevels, "listener", "conductor", "every 200 ms while a page is open",
         "levels of owner and box"),
    _row(SoundLevels, "conductor", "page", "as above", ""),
    _row(ShowLight, "page", "conductor", "on command", "show a pattern of the light"),
    _row(ShowLight, "conductor", "panel", "as above", ""),
    _row(StartTrial, "page", "conductor", "on command", "start a trial with sound"),
    _row(StartTrial, "conductor", "listener", "as above", ""),
    _row(TrialRefused, "listener", "conductor", "on refusal", "why the trial cannot be started"),
    _row(TrialRefused, "conductor", "page", "as above, and its own refusals", ""),
    _row(EndTrial, "page", "conductor", "on cancel, or once no page is open", "cancel it"),
    _row(EndTrial, "conductor", "listener", "as above", ""),
    _row(SoundRecording, "listener", "conductor", "on change", "whether it is recording"),
    _row(SoundRecording, "conductor", "page panel", "as above", ""),
    _row(SoundRecorded, "listener", "conductor", "once a recording", "levels of the recording"),
    _row(SoundRecorded, "conductor", "page", "as above", ""),
    _row(EchoMeasured, "listener", "conductor", "once a trial", "attenuation by the canceller"),
    _row(EchoMeasured, "conductor", "page", "as above", ""),
    _row(BeginEnrolment, "page", "conductor", "on command", "learn an owner's voice"),
    _row(BeginEnrolment, "conductor", "listener", "as above", ""),
    _row(AskTake, "page", "conductor", "each take", "ask for a word aloud and record it"),
    _row(AskTake, "conductor", "listener", "as above", ""),
    _row(TakeJudged, "listener", "conductor", "each take", "whether it is usable"),
    _row(TakeJudged, "conductor", "page", "as above", ""),
    _row(LearnEnrolment, "page", "conductor", "after the last take", "learn from the takes"),
    _row(LearnEnrolment, "conductor", "listener", "as above", ""),
    _row(EnrolmentLearnt, "listener", "conductor", "once an enrolment", "the result"),
    _row(EnrolmentLearnt, "conductor", "page", "as above", ""),
    _row(OwnerVoiceChanged, "page", "conductor", "when it was deleted",
         "read the enrolled correction again"),
    _row(OwnerVoiceChanged, "conductor", "listener", "as above", ""),
)
# fmt: on


def receivers_of(message: type[BaseMessage], sender: str = "conductor") -> frozenset[str]:
    """The parts that `sender` sends `message` to."""
    rows = [r.receivers for r in ROUTES if r.message is message and sender in r.senders]
    return frozenset[str]().union(*rows)


def passed_on_to(part: str) -> tuple[type[BaseMessage], ...]:
    """The messages of other parts that the conductor passes on unchanged to `part`."""
    return tuple(r.message for r in ROUTES if part in r.receivers and not r.means)
