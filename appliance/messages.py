"""Every message that crosses a process border. One struct a kind, told apart by its tag.

Times are CLOCK_MONOTONIC; `index` counts the card's samples (16 kHz); `position` counts the
samples of an answer from its start.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from appliance.errors import BadMessage

Judgement = Literal["backchannel", "interruption", "noise"]
ModeName = Literal["open", "push_to_talk", "wake_word"]
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


# ── conductor → listener, and words → conductor → listener ───────────────────────────────────
class Attend(Record, frozen=True):
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
    why: str = ""
    over_box: bool = True
    held: bool = False
    since: int = 0


class WordsHeard(Record, frozen=True):
    """What is understood so far of the sound of onset `serial`; the next one replaces it.

    From words; the conductor passes it on to the listener, whose verdict it may help if it is in
    time. `kind`, by the owner's lists: "stop" means one of `hearing.words.stop` and nothing else so
    far: whatever the verdict was, the answer ends, and utterance `serial` is no question.
    `text`: lower-case words, only for those who watch, never logged. `sure`: 0 to 1.
    """

    serial: int
    age_ms: int
    text: str
    kind: Literal["stop", "yield", "carry_on", "other"]
    sure: float = 1.0


class Woken(Record, frozen=True):
    """From words: the wake word was heard; it ended before sample `index` of the card."""

    index: int
    phrase: str
    score: float = 1.0


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
    """Silent from `index` on, `position` samples into the answer, for onset `serial`; 0: a press.

    With `speaking.while_judging: duck` an onset is no pause; only a press is.
    """

    turn: int
    serial: int
    position: int
    index: int


class Resumed(Record, frozen=True):
    """Sounding again from `index` on, from sample `position` of the answer.

    `position` lies before that of the pause where the last word is said again
    (`speaking.rewind_after_s`).
    """

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


class SetMode(Record, frozen=True):
    """How the owner gets the box's ear from now on, until the next start."""

    mode: ModeName


class Talk(Record, frozen=True):
    """The talk button went down or came up. What sounds ends and the box listens.

    In mode push_to_talk `hearing.push_to_talk.press` says whether it listens while the button is
    held or until the next press; in the others a press opens the floor for one turn. Who owns the
    button raises the floor's `press` first: that silences the box at once.
    """

    pressed: bool


class Listen(Record, frozen=True):
    """Open the floor for one turn, as a press would; nobody holds a button."""


class Repeat(Record, frozen=True):
    """Say the last answer again, as far as it was thought."""


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


class ModeChanged(Record, frozen=True):
    """The mode, at the start and at every change."""

    mode: ModeName
    at_ns: int


Message = (
    Onset | Opinion | Verdict | SpeechStarted | SpeechEnded
    | Attend | WordsHeard | Woken
    | Think | Abandon | Heard | Recall | Forget | ThinkerReady | Sentence | ThoughtEnded
    | Speak | EndAnswer | SpeakerReady | Spoken | SpeakFailed
    | Started | Paused | Resumed | Finished | Stopped | SetVolume
    | CardLost | CardFound | Dropouts
    | PartChanged
    | Mute | StopSpeaking | SetMode | Talk | Listen | Repeat | Say | Ask
    | StateChanged | ModeChanged
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
