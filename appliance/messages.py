"""Every message that crosses a process border. One struct a kind, told apart by its tag.

Times are CLOCK_MONOTONIC; `index` counts the card's samples (16 kHz); `position` counts the
samples of an answer from its start.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from appliance.errors import BadMessage

Judgement = Literal["backchannel", "interruption", "noise"]
StateName = Literal["idle", "listening", "thinking", "speaking", "holding", "muted", "failed"]


class Record(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A message: frozen, tagged with its own name."""


# ── listener → conductor ─────────────────────────────────────────────────────────────────────
class Onset(Record, frozen=True):
    """The owner seems to begin; playback has already been paused.

    `index`: where the sound began. `speaking`: over the box. `decided`: the first sample after
    those that were heard until then.
    """

    serial: int
    index: int
    speaking: bool
    decided: int = 0


class Opinion(Record, frozen=True):
    """What the interjection looks like so far; probabilities that sum to one."""

    serial: int
    age_ms: int
    backchannel: float
    interruption: float
    noise: float


class Verdict(Record, frozen=True):
    """What the sound of onset `serial` was. After it comes SpeechStarted, or nothing."""

    serial: int
    kind: Judgement
    age_ms: int


class SpeechStarted(Record, frozen=True):
    """Utterance `utterance` has begun at `index`; its samples flow into the ring `heard`."""

    utterance: int
    serial: int
    index: int


class SpeechEnded(Record, frozen=True):
    """So many samples of the utterance are in `heard`. `last` is false for a piece of a long one.

    `index` is the first sample after the owner's speech, the end-of-turn wait not counted.
    """

    utterance: int
    index: int
    frames: int
    last: bool


# ── conductor → thinker, and back ────────────────────────────────────────────────────────────
class Think(Record, frozen=True):
    """Answer these utterances (ring `heard`), or this text, as turn `turn`."""

    turn: int
    utterances: tuple[int, ...] = ()
    text: str = ""


class Abandon(Record, frozen=True):
    """Stop thinking about `turn`. If nothing of it was heard, its question is to be kept."""

    turn: int


class Heard(Record, frozen=True):
    """What the owner heard of the answer to `turn`: the history keeps that and no more.

    No text: nothing was heard and nothing will be; the question is not to be kept either.
    """

    turn: int
    text: str
    complete: bool


class Recall(Record, frozen=True):
    """Earlier turns for a thinker that has just begun: (what the owner said, what was heard)."""

    turns: tuple[tuple[str, str], ...]


class Forget(Record, frozen=True):
    """Forget the conversation: the model's history and, on the way, the memory on disk."""


class ThinkerReady(Record, frozen=True):
    """The model is loaded."""

    model: str


class Sentence(Record, frozen=True):
    """One sentence of the answer, in the order of `number` from 0."""

    turn: int
    number: int
    text: str


class ThoughtEnded(Record, frozen=True):
    """No more sentences of `turn` will come. Timings in milliseconds from the Think message."""

    turn: int
    sentences: int
    reason: Literal["complete", "limit", "abandoned", "failed"]
    problem: str = ""
    tokens: int = 0
    encode_ms: float = 0.0
    prefill_ms: float = 0.0
    first_sentence_ms: float = 0.0
    tokens_per_s: float = 0.0


# ── conductor → speaker, and back ────────────────────────────────────────────────────────────
class Speak(Record, frozen=True):
    """Say this as part `number` of answer `turn`."""

    turn: int
    number: int
    text: str


class EndAnswer(Record, frozen=True):
    """Nothing follows in answer `turn`."""

    turn: int


class SpeakerReady(Record, frozen=True):
    voice: str


class Spoken(Record, frozen=True):
    """Sentence `number` lies in the ring `voice` from `position`, `frames` samples long.

    `synthesis_ms`: from the Speak message to its first samples in the ring.
    """

    turn: int
    number: int
    position: int
    frames: int
    synthesis_ms: float


class SpeakFailed(Record, frozen=True):
    turn: int
    number: int
    problem: str


# ── playback → conductor ─────────────────────────────────────────────────────────────────────
class Started(Record, frozen=True):
    """The first sample of answer `turn` leaves the loudspeaker at `index`."""

    turn: int
    index: int


class Paused(Record, frozen=True):
    """Silent from `index` on, `position` samples into the answer, for onset `serial`."""

    turn: int
    serial: int
    position: int
    index: int


class Resumed(Record, frozen=True):
    """Sounding again from `index` on, from sample `position` of the answer."""

    turn: int
    serial: int
    position: int
    index: int


class Finished(Record, frozen=True):
    """The last sample of answer `turn` left at `index`; the answer was `position` samples long."""

    turn: int
    position: int
    index: int


class Stopped(Record, frozen=True):
    """Answer `turn` was cut: `position` samples of it were heard, silent from `index` on."""

    turn: int
    position: int
    index: int


class SetVolume(Record, frozen=True):
    """Loudness of the voice, 0 to 1; to playback, at once."""

    volume: float


# ── capture, playback → conductor ────────────────────────────────────────────────────────────
class CardLost(Record, frozen=True):
    direction: Literal["capture", "playback"]
    problem: str


class CardFound(Record, frozen=True):
    direction: Literal["capture", "playback"]
    device: str
    rate_hz: int


class Dropouts(Record, frozen=True):
    """So many dropouts (xruns) since the process started; sent when the number changes."""

    direction: Literal["capture", "playback"]
    count: int


# ── supervisor → conductor ───────────────────────────────────────────────────────────────────
class PartChanged(Record, frozen=True):
    """A process came up (ready), went down (to be restarted), or was given up."""

    part: str
    state: Literal["up", "down", "failed"]
    problem: str = ""


# ── from outside (panel, link, command line) → conductor ─────────────────────────────────────
class Mute(Record, frozen=True):
    on: bool


class StopSpeaking(Record, frozen=True):
    """The stop button: end the answer now."""


class Say(Record, frozen=True):
    """Speak this aloud; nobody asked."""

    text: str


class Ask(Record, frozen=True):
    """Treat this text as the owner's words."""

    text: str


# ── conductor → everybody who watches ────────────────────────────────────────────────────────
class StateChanged(Record, frozen=True):
    """The conversation's state, sent at every change and never while it lasts."""

    state: StateName
    turn: int
    at_ns: int
    reason: str = ""


Message = (
    Onset | Opinion | Verdict | SpeechStarted | SpeechEnded
    | Think | Abandon | Heard | Recall | Forget | ThinkerReady | Sentence | ThoughtEnded
    | Speak | EndAnswer | SpeakerReady | Spoken | SpeakFailed
    | Started | Paused | Resumed | Finished | Stopped | SetVolume
    | CardLost | CardFound | Dropouts
    | PartChanged
    | Mute | StopSpeaking | Say | Ask
    | StateChanged
)  # fmt: skip


class Seen(Record, frozen=True):
    """A copy for those who watch (room, log): a message, where from, where to, and when."""

    at_ns: int
    source: str
    target: str
    message: Message


Mail = Message | Seen  # what a channel may carry

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
