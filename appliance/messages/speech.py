"""Every message that crosses a process border. One struct a kind, told apart by its tag.

Times are CLOCK_MONOTONIC; `index` counts the card's samples (16 kHz); `position` counts the
samples of an answer from its start.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from appliance.errors import BadMessage
from appliance.messages.commands import (
    Ask,
    BoxStatus,
    BrokerChanged,
    ButtonFault,
    ButtonPressed,
    ButtonTrouble,
    CommandRefused,
    Forget,
    Forgotten,
    ListenOnce,
    ModeName,
    Mute,
    MuteSwitched,
    PressName,
    Repeat,
    Restart,
    Say,
    SetMode,
    SetVoice,
    SetVolume,
    StateChanged,
    StateName,
    StopSpeaking,
    TalkButton,
    VoicesAvailable,
)
from appliance.messages.limits import Count, LineText, NameText, WordsText
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
from appliance.messages.thinking import (
    Abandon,
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
    HouseRequest,
    HouseResponse,
    TimerEvent,
    TimersStatus,
    ToolAnswered,
    ToolCalled,
)

# To everybody they are messages like those below.
__all__ = [
    "Abandon",
    "AnswerHeard",
    "Ask",
    "BaseMessage",
    "BoxStatus",
    "BrokerChanged",
    "ButtonFault",
    "ButtonPressed",
    "ButtonTrouble",
    "CardFound",
    "CardLost",
    "CommandRefused",
    "Dropouts",
    "Forget",
    "Forgotten",
    "HouseRequest",
    "HouseResponse",
    "ListenOnce",
    "ModeName",
    "Mute",
    "MuteSwitched",
    "PlaybackFinished",
    "PlaybackPaused",
    "PlaybackResumed",
    "PlaybackStarted",
    "PlaybackStopped",
    "PressName",
    "Recall",
    "RecallWanted",
    "Repeat",
    "Restart",
    "Say",
    "Sentence",
    "SetMode",
    "SetVoice",
    "SetVolume",
    "StateChanged",
    "StateName",
    "StopSpeaking",
    "TalkButton",
    "Think",
    "ThinkerReady",
    "ThinkingProgress",
    "ThoughtEnded",
    "TimerEvent",
    "TimersStatus",
    "ToolAnswered",
    "ToolCalled",
    "Transcribed",
    "VoicesAvailable",
]  # fmt: skip

Judgement = Literal["backchannel", "interruption", "noise"]


class Onset(BaseMessage, frozen=True):
    """The owner seems to begin; playback has already been paused.

    `index`: where the sound began. `speaking`: over the box. `decided`: the first sample after
    those that were heard until then.
    """

    serial: Count
    index: int
    speaking: bool
    decided: int = 0


class Opinion(BaseMessage, frozen=True):
    """What the interjection looks like so far; probabilities that sum to one."""

    serial: Count
    age_ms: int
    backchannel: float
    interruption: float
    noise: float


class Verdict(BaseMessage, frozen=True):
    """What the sound of onset `serial` was. After it comes SpeechStarted, or nothing."""

    serial: Count
    kind: Judgement
    age_ms: int


class SpeechStarted(BaseMessage, frozen=True):
    """Utterance `utterance` has begun at `index`; its samples flow into the ring `heard`."""

    utterance: Count
    serial: Count
    index: int


class SpeechEnded(BaseMessage, frozen=True):
    """So many samples of the utterance are in `heard`. `last` is false for a piece of a long one.

    `index` is the first sample after the owner's speech, the end-of-turn wait not counted.
    """

    utterance: Count
    index: int
    frames: Count
    last: bool


class SetListening(BaseMessage, frozen=True):
    """How to take what is said from now on. Sent when it changes, and to a listener that came up.

    `on`: speech while the box is silent is meant for it. Off: it is not told (no Onset) and goes
    nowhere; an utterance under way still comes to its own end. `over_box`: speech over an answer
    pauses it. Without any Attend both are on, but for what `mode` says of the first moment.
    `held`: a button is pressed. The utterance begins at once, with its pre-roll: Onset and
    SpeechStarted; no silence ends it, and the next Attend without `held` ends it at once. When
    nobody spoke meanwhile its SpeechEnded has no frames.
    `since`: the card's index after a wake word (Woken.index); speech counts from there, also what
    has been said before this message came, and over an answer it needs no verdict. 0: from now.
    """

    on: bool
    why: LineText = ""
    over_box: bool = True
    held: bool = False
    since: int = 0


class WordsHeard(BaseMessage, frozen=True):
    """What is understood so far of the sound of onset `serial`; the next one replaces it.

    From words; the conductor passes it on to the listener, whose verdict it may help if it is in
    time. `kind`, by the owner's lists: "stop" means one of `hearing.words.stop` and nothing else so
    far: whatever the verdict was, the answer ends, and utterance `serial` is no question.
    `text`: lower-case words, only for those who watch, never logged. `sure`: 0 to 1.
    """

    serial: Count
    age_ms: int
    text: WordsText
    kind: Literal["stop", "yield", "carry_on", "other"]
    sure: float = 1.0


class WakeWordHeard(BaseMessage, frozen=True):
    """From words: the wake word was heard; it ended before sample `index` of the card."""

    index: int
    phrase: LineText
    score: float = 1.0


class Speak(BaseMessage, frozen=True):
    """Say this as part `number` of answer `turn`; with `chime` a sound goes before it.

    `chime` and no text: the opening, by which the listener learns the room. `ring`: a timer's
    sound goes before it.
    """

    turn: Count
    number: Count
    text: WordsText
    chime: bool = False
    ring: bool = False


class EndAnswer(BaseMessage, frozen=True):
    """Nothing follows in answer `turn`."""

    turn: Count


class SpeakerReady(BaseMessage, frozen=True):
    voice: NameText


class Spoken(BaseMessage, frozen=True):
    """Sentence `number` lies in the ring `voice` from `position`, `frames` samples long.

    `synthesis_ms`: from the Speak message to its first samples in the ring.
    """

    turn: Count
    number: Count
    position: Count
    frames: Count
    synthesis_ms: float


class SpeakFailed(BaseMessage, frozen=True):
    turn: Count
    number: Count
    problem: LineText


class PartChanged(BaseMessage, frozen=True):
    """A process came up (ready), went down (to be started again), or went down so often that it
    counts as failed until it is up; it is started again all the same."""

    part: NameText
    state: Literal["up", "down", "failed"]
    problem: LineText = ""


Message = (
    Onset | Opinion | Verdict | SpeechStarted | SpeechEnded
    | SetListening | WordsHeard | WakeWordHeard
    | Think | Abandon | AnswerHeard | Recall | Forget | RecallWanted | ThinkerReady
    | ThinkingProgress | Sentence | ThoughtEnded
    | Transcribed
    | ToolCalled | ToolAnswered | HouseRequest | HouseResponse | TimerEvent | TimersStatus
    | Speak | EndAnswer | SpeakerReady | VoicesAvailable | Spoken | SpeakFailed
    | PlaybackStarted | PlaybackPaused | PlaybackResumed | PlaybackFinished | PlaybackStopped |
    SetVolume
    | CardLost | CardFound | Dropouts
    | PartChanged
    | Mute | StopSpeaking | SetMode | TalkButton | ListenOnce | Repeat | Say | Ask | SetVoice |
    Restart
    | CommandRefused | BrokerChanged | ButtonPressed | MuteSwitched | ButtonFault
    | StateChanged | BoxStatus | Forgotten
)  # fmt: skip


class ObservedMessage(BaseMessage, frozen=True):
    """A copy for those who watch (room, log): a message, where from, where to, and when."""

    at_ns: int
    source: NameText
    target: NameText
    message: Message


Mail = Message | ObservedMessage  # what a channel may carry

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Mail)


def encode(message: Mail) -> bytes:
    return _encoder.encode(message)


def decode(data: bytes) -> Mail:
    """The message in `data`. Raises BadMessage, naming what is wrong."""
    try:
        mail: Mail = _decoder.decode(data)
        return mail
    except msgspec.ValidationError as error:
        raise BadMessage(f"Not a message we know: {error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadMessage(f"{len(data)} bytes that are no message: {error}.") from error
