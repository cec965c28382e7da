"""What the page needs to show the conversation while somebody looks at it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.messages.message import BaseMessage

LEVEL_MS = 40  # of sound in one level
LEVELS = 5  # in one message
SILENCE_DB = -96  # what 16 bits can tell from silence

Decibels = Annotated[int, msgspec.Meta(ge=SILENCE_DB, le=0)]
Levels = Annotated[tuple[Decibels, ...], msgspec.Meta(max_length=LEVELS)]


class LiveView(BaseMessage, frozen=True):
    """Somebody looks at the page, or nobody does any more.

    From the page to the conductor: while `on`, sound levels are wanted; with `words` also the
    sentences of answers, which somebody has asked for there. From the conductor to the listener,
    which measures levels while `on`.
    """

    on: bool
    words: bool = False


class SoundLevels(BaseMessage, frozen=True):
    """How loud both voices were: one value each LEVEL_MS from sample `index` of the card on, RMS in
    dB below full scale. `owner`: the microphone with the echo taken out. `box`: the loudspeaker."""

    index: int
    owner: Levels
    box: Levels
