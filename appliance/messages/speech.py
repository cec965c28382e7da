"""Messages between conductor and speaker. `position` counts an answer's samples."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.messages.limits import MAX_WORDS, Count, LineText, NameText, WordsText
from appliance.messages.message import BaseMessage

MOST_SPOKEN_WORDS = MAX_WORDS // 2  # of one sentence: each has a letter, and a space behind it


# Of what is tried with the loudspeaker: voice/chime.py; the owner's recording, out of ring `tried`.
SoundName = Literal["", "sweep", "opening", "recording"]


class SentenceTokens(msgspec.Struct, frozen=True):
    """The tokens of a sentence by their serials in the ring `states`: from `first` up to but not
    with `end`. `words`: of each of its words, how far behind `first` is its first token."""

    first: Count
    end: Count
    words: Annotated[tuple[Count, ...], msgspec.Meta(max_length=MOST_SPOKEN_WORDS)] = ()


class Speak(BaseMessage, frozen=True):
    """Say this as part `number` of answer `turn`; with `chime` a sound goes before it. `text` is
    said as it is (plain_text.spoken); "" for no words.

    `chime` and no text: the opening, by which the listener learns the room. `ring`: a timer's
    sound goes before it. `tokens`: what the model made of it as it drew it; None: nothing is known.
    `sound`: goes before it, whatever `chime` and `ring` say.
    """

    turn: Count
    number: Count
    text: WordsText
    chime: bool = False
    ring: bool = False
    tokens: SentenceTokens | None = None
    sound: SoundName = ""


class PrepareSpeech(BaseMessage, frozen=True):
    """This may be the text of the next Speak, and its `tokens`. Nothing of it sounds."""

    text: WordsText
    tokens: SentenceTokens | None = None


class EndAnswer(BaseMessage, frozen=True):
    """Nothing follows in answer `turn`."""

    turn: Count


class SpeakerReady(BaseMessage, frozen=True):
    """A voice is loaded."""

    voice: NameText


class Spoken(BaseMessage, frozen=True):
    """Sentence `number` lies in the ring `voice` from `position`, `frames` samples long.

    `synthesis_ms`: from the Speak message to its first samples in the ring. `words`: for each word,
    how many characters of the text have been said once it is over, and the sample of the sentence
    at which it is; none from a voice that does not tell. `language`: that it was said in (ISO 639);
    "" where there were no words. `voice`: which said it, or the end of it; "" likewise.
    `passed_on`: one that was to say it could not.
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
