"""Messages by which an open page shows the conversation live."""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.messages.message import BaseMessage

LEVEL_MS = 40  # duration of sound per level
LEVELS = 5  # levels per message
SILENCE_DB = -96  # lowest level that 16-bit samples resolve

Decibels = Annotated[int, msgspec.Meta(ge=SILENCE_DB, le=0)]
Levels = Annotated[tuple[Decibels, ...], msgspec.Meta(max_length=LEVELS)]


class LiveView(BaseMessage, frozen=True):
    """A browser has the page open (`on`), or no longer has.

    From the page to the conductor: while `on`, the page needs sound levels, and with `words` also
    the sentences of answers, if a viewer switched them on. From the conductor to the listener,
    which measures levels while `on`, and to words, which sends WakeScore while `on`.
    """

    on: bool
    words: bool = False


class SoundLevels(BaseMessage, frozen=True):
    """Levels of owner and box: one value per LEVEL_MS from sample `index` of the card on, RMS in dB
    full scale. `owner`: the microphone after echo cancellation. `box`: the loudspeaker."""

    index: int
    owner: Levels
    box: Levels
