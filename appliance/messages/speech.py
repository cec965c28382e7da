"""Messages between conductor and speaker. `position` counts an answer's samples."""

from __future__ import annotations

from appliance.messages.limits import Count, LineText, NameText, WordsText
from appliance.messages.message import BaseMessage


class Speak(BaseMessage, frozen=True):
    """Say this as part `number` of answer `turn`; with `chime` a sound goes before it. `text` is
    said as it is (plain_text.spoken); "" for no words.

    `chime` and no text: the opening, by which the listener learns the room. `ring`: a timer's
    sound goes before it.
    """

    turn: Count
    number: Count
    text: WordsText
    chime: bool = False
    ring: bool = False


class PrepareSpeech(BaseMessage, frozen=True):
    """This may be the text of the next Speak. Nothing of it sounds."""

    text: WordsText


class EndAnswer(BaseMessage, frozen=True):
    """Nothing follows in answer `turn`."""

    turn: Count


class SpeakerReady(BaseMessage, frozen=True):
    """A voice is loaded."""

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
    """Sentence `number` cannot be spoken."""

    turn: Count
    number: Count
    problem: LineText
