"""Messages from playback and capture to the conductor.

`index` counts the card's samples, `position` the answer's.
"""

from __future__ import annotations

from typing import Literal

from appliance.messages.limits import Count, LineText
from appliance.messages.message import BaseMessage


class PlaybackStarted(BaseMessage, frozen=True):
    """The first sample of answer `turn` leaves the loudspeaker at `index`."""

    turn: Count
    index: int


class PlaybackPaused(BaseMessage, frozen=True):
    """Silent from `index` on, `position` samples into the answer, for onset `serial`; 0: a press.

    With `speaking.while_judging: duck` an onset is no pause; only a press is.
    """

    turn: Count
    serial: Count
    position: Count
    index: int


class PlaybackResumed(BaseMessage, frozen=True):
    """Sounding again from `index` on, from sample `position` of the answer.

    `position` lies before that of the pause where the last word is said again
    (`speaking.rewind_after_s`).
    """

    turn: Count
    serial: Count
    position: Count
    index: int


class PlaybackFinished(BaseMessage, frozen=True):
    """The last sample of answer `turn` left at `index`; the answer was `position` samples long."""

    turn: Count
    position: Count
    index: int


class PlaybackStopped(BaseMessage, frozen=True):
    """Answer `turn` was cut: `position` samples of it were heard, silent from `index` on."""

    turn: Count
    position: Count
    index: int


class CardLost(BaseMessage, frozen=True):
    """The sound card is gone, or cannot be opened."""

    direction: Literal["capture", "playback"]
    problem: LineText


class CardFound(BaseMessage, frozen=True):
    """The sound card is open, at its own rate."""

    direction: Literal["capture", "playback"]
    device: LineText
    rate_hz: int


class Dropouts(BaseMessage, frozen=True):
    """So many dropouts (xruns) since the process started; sent when the number changes."""

    direction: Literal["capture", "playback"]
    count: Count
