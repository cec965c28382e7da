"""Messages between conductor and speaker. `position` counts samples of an answer."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.messages.limits import MAX_WORDS, Count, LineText, NameText, WordsText
from appliance.messages.message import BaseMessage

MOST_SPOKEN_WORDS = MAX_WORDS // 2  # of one sentence: a word is at least a letter and a space


# Sounds of the trials on the page (voice/chime.py); "recording" is the owner's, from ring `tried`.
SoundName = Literal["", "sweep", "opening", "recording"]


class SentenceTokens(msgspec.Struct, frozen=True):
    """The tokens of a sentence by their serials in the ring `states`, from `first` up to but not
    including `end`. `words`: for each word, the offset of its first token from `first`."""

    first: Count
    end: Count
    words: Annotated[tuple[Count, ...], msgspec.Meta(max_length=MOST_SPOKEN_WORDS)] = ()


class Speak(BaseMessage, frozen=True):
    """Speak `text` as part `number` of answer `turn`; with `chime` a sound precedes it. The text
    is spoken unchanged (plain_text.spoken has prepared it); "": no words.

    `chime` without text: the start-up chime, from which the listener learns the echo path. `ring`:
    a timer's sound precedes it. `tokens`: the model's tokens of this sentence; None: not known.
    `sound`: this sound precedes it, whatever `chime` and `ring` are.
    """

    turn: Count
    number: Count
    text: WordsText
    chime: bool = False
    ring: bool = False
    tokens: SentenceTokens | None = None
    sound: SoundName = ""


class PrepareSpeech(BaseMessage, frozen=True):
    """Text and `tokens` that the next Speak may have, to be synthesised ahead and not played."""

    text: WordsText
    tokens: SentenceTokens | None = None


class EndAnswer(BaseMessage, frozen=True):
    """Answer `turn` is complete: no Speak follows for it."""

    turn: Count


class SpeakerReady(BaseMessage, frozen=True):
    """A voice is loaded."""

    voice: NameText


class Spoken(BaseMessage, frozen=True):
    """Sentence `number` is in the ring `voice` from `position` on, `frames` samples long.

    `synthesis_ms`: from the Speak message to the first samples in the ring. `words`: for each word,
    the number of characters of the text up to its end, and the sample of the sentence at which it
    ends; empty if the voice does not report it. `language`: of the speech (ISO 639); "" without
    words. `voice`: the voice that spoke it, or the end of it; "" without words.
    `passed_on`: the selected voice failed, and another one spoke.
    """

    turn: Count
    number: Count
    position: Count
    frames: Count
    synthesis_ms: float
    words: Annotated[
        tuple[tuple[Count, Count], ...], msgspec.Meta(max_length=MOST_SPOKEN_WORDS)
    ] = ()
    language: NameText = ""
    voice: NameText = ""
    passed_on: bool = False


class SpeakFailed(BaseMessage, frozen=True):
    """Sentence `number` cannot be spoken."""

    turn: Count
    number: Count
    problem: LineText
