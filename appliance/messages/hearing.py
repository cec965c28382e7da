"""Messages from listener and words to the conductor, and SetListening to the listener.

`index` counts the sound card's samples (16 kHz).
"""

from __future__ import annotations

from typing import Literal

from appliance.messages.limits import Count, LineText, ShareValue, WordsText
from appliance.messages.message import BaseMessage

Judgement = Literal["backchannel", "interruption", "noise"]
PhraseKind = Literal["stop", "repeat", "yield", "carry_on", "other"]


class Onset(BaseMessage, frozen=True):
    """A sound has begun that may be the owner; playback is already paused.

    `index`: where the sound began. `speaking`: it began while the box was speaking. `decided`: the
    first sample after those that had been processed when the onset was detected.
    """

    serial: Count
    index: int
    speaking: bool
    decided: int = 0


class Opinion(BaseMessage, frozen=True):
    """Class probabilities of an interjection so far; they sum to one."""

    serial: Count
    age_ms: int
    backchannel: float
    interruption: float
    noise: float


class Verdict(BaseMessage, frozen=True):
    """The class of the sound of onset `serial`. SpeechStarted follows, or nothing.

    A "backchannel" after an "interruption" of the same serial takes that back, and the utterance's
    SpeechEnded follows without samples.
    """

    serial: Count
    kind: Judgement
    age_ms: int


class SpeechStarted(BaseMessage, frozen=True):
    """Utterance `utterance` began at `index`; the listener writes its samples to ring `heard`."""

    utterance: Count
    serial: Count
    index: int


class SpeechEnded(BaseMessage, frozen=True):
    """A piece of an utterance is complete: `frames` samples of the utterance are in ring `heard`.

    `last` is false for a piece of a long utterance that continues. `index` is the first sample
    after the owner's speech, without the end-of-turn wait.
    """

    utterance: Count
    index: int
    frames: Count
    last: bool


class SetListening(BaseMessage, frozen=True):
    """Sets which speech the listener accepts; sent on change and when a listener starts.

    `on`: speech while the box is silent is accepted. Otherwise such a sound causes no Onset and is
    discarded; an utterance under way continues to its own end. `over_box`: speech over an answer
    pauses it. Before the first SetListening both are on in mode open and off in the other modes.
    `held`: the talk button is down. The utterance begins at once, with its pre-roll: Onset and
    SpeechStarted. No silence ends it; the next SetListening without `held` ends it at once. If it
    contains no speech, its SpeechEnded has no frames.
    `since`: the card's index after a wake word (WakeWordHeard.index). Speech from that index on is
    accepted, including speech before this message arrived, and over an answer it needs no verdict.
    0: from now.
    `asked`: serial of the onset that came over an open question of the box, or just after it: a
    murmur of that onset is an answer, and its verdict an interruption. 0: none did.
    """

    on: bool
    why: LineText = ""
    over_box: bool = True
    held: bool = False
    since: int = 0
    asked: Count = 0


class WordsHeard(BaseMessage, frozen=True):
    """Words recognised so far in the sound of onset `serial`; the next one replaces it.

    Sent by the process words. The conductor passes it on to the listener, where it is evidence for
    the verdict if it arrives in time. `kind` follows the owner's lists: "stop" means phrases of
    `hearing.words.stop` and nothing else so far. Then the answer ends whatever the verdict was,
    and utterance `serial` is not a question. "repeat" means the same of `hearing.words.repeat`:
    the answer goes on at the utterance's end, from the start of the last sentence heard.
    `text`: lower-case words, only for observers of messages, never logged. `sure`: 0 to 1.
    """

    serial: Count
    age_ms: int
    text: WordsText
    kind: PhraseKind
    sure: float = 1.0


class WakeWordHeard(BaseMessage, frozen=True):
    """The process words recognised the wake word; it ended before sample `index` of the card."""

    index: int
    phrase: LineText
    score: float = 1.0


class WakeScore(BaseMessage, frozen=True):
    """The highest recent score of the wake word, and the threshold above which it counts as
    recognised. The process words sends it while a page is open."""

    score: ShareValue
    threshold: ShareValue


class WakeNearMiss(BaseMessage, frozen=True):
    """A sound came close to the wake word without reaching the threshold. The process words saw
    its highest score before sample `index` of the card. `short`: log odds below `threshold`."""

    index: int
    score: ShareValue
    threshold: ShareValue
    short: float
