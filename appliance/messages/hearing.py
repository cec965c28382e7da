"""Messages of listener and words to the conductor, and SetListening to the listener.

`index` counts the card's samples (16 kHz).
"""

from __future__ import annotations

from typing import Literal

from appliance.messages.limits import Count, LineText, ShareValue, WordsText
from appliance.messages.message import BaseMessage

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
    pauses it. Without any SetListening both are on, but for what `mode` says of the first moment.
    `held`: a button is pressed. The utterance begins at once, with its pre-roll: Onset and
    SpeechStarted; no silence ends it, and the next SetListening without `held` ends it at once.
    When nobody spoke meanwhile its SpeechEnded has no frames.
    `since`: the card's index after a wake word (WakeWordHeard.index); speech counts from there,
    also what has been said before this message came, and over an answer it needs no verdict. 0:
    from now.
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


class WakeScore(BaseMessage, frozen=True):
    """From words, while somebody watches: the highest score of the wake word lately, and the
    threshold over which it counts as heard."""

    score: ShareValue
    threshold: ShareValue


class WakeNearMiss(BaseMessage, frozen=True):
    """From words: something came near the wake word and was not taken for it. Its highest score was
    before sample `index` of the card. `short`: by so many log odds it fell short of `threshold`."""

    index: int
    score: ShareValue
    threshold: ShareValue
    short: float
