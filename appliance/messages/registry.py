"""The union of all messages between processes, and their encoding as bytes.

Each message is a struct that is identified by its tag. Times are CLOCK_MONOTONIC.
"""

from __future__ import annotations

import msgspec

from appliance.errors import BadMessage
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
from appliance.messages.limits import NameText
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

Message = (
    Onset | Opinion | Verdict | SpeechStarted | SpeechEnded
    | SetListening | WordsHeard | WakeWordHeard
    | Think | Abandon | AnswerHeard | Recall | Forget | RecallWanted | ThinkerReady
    | ThinkingProgress | AnswerBegun | Sentence | ThoughtEnded
    | Transcribed
    | ToolCalled | ToolAnswered | HouseRequest | HouseResponse | TimerEvent | TimersStatus
    | TimersList | CancelTimer | ForgetTurn
    | PrepareSpeech | Speak | EndAnswer | SpeakerReady | VoicesAvailable | Spoken | SpeakFailed
    | PlaybackStarted | PlaybackPaused | PlaybackResumed | PlaybackFinished | PlaybackStopped
    | RewindAnswer | SetVolume
    | CardLost | CardFound | Dropouts
    | PartChanged
    | Mute | StopSpeaking | SetMode | TalkButton | ListenOnce | Repeat | Say | Announced | Ask
    | SetVoice | Restart
    | CommandRefused | BrokerChanged | ButtonPressed | MuteSwitched | ButtonFault
    | StateChanged | StatusWanted | BoxStatus | Forgotten | LiveView | SoundLevels
    | ShowLight | StartTrial | TrialRefused | EndTrial | SoundRecording | SoundRecorded
    | EchoMeasured | WakeScore | WakeNearMiss
    | BeginEnrolment | AskTake | TakeJudged | LearnEnrolment | EnrolmentLearnt | OwnerVoiceChanged
)  # fmt: skip


class ObservedMessage(BaseMessage, frozen=True):
    """Copy of a message with its sender, receiver and time, for observers (lab, log)."""

    at_ns: int
    source: NameText
    target: NameText
    message: Message


Mail = Message | ObservedMessage  # everything that a channel carries

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Mail)


def encode(message: Mail) -> bytes:
    return _encoder.encode(message)


def decode(data: bytes) -> Mail:
    """Decode the message in `data`. Raises BadMessage, which says what is wrong."""
    try:
        mail: Mail = _decoder.decode(data)
        return mail
    except msgspec.ValidationError as error:
        raise BadMessage(f"Not a message we know: {error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadMessage(f"{len(data)} bytes that are no message: {error}.") from error
