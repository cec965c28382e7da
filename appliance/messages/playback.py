"""Messages from playback and capture to the conductor, and RewindAnswer to playback.

`index` counts samples of the sound card, `position` samples of the answer.
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
    """Playback is silent from `index` on, `position` samples into the answer, for onset `serial`.

    `serial` 0: the cause is a press. With `speaking.while_judging: duck` an onset does not pause
    playback; only a press does.
    """

    turn: Count
    serial: Count
    position: Count
    index: int


class PlaybackResumed(BaseMessage, frozen=True):
    """Playback continues at `index` with sample `position` of the answer.

    `position` is before that of the pause if the last word is repeated
    (`speaking.rewind_after_s`), or after a RewindAnswer.
    """

    turn: Count
    serial: Count
    position: Count
    index: int


class RewindAnswer(BaseMessage, frozen=True):
    """Resume answer `turn` at `position`, which was heard before, or at the oldest sample that
    playback still has. No effect unless the answer is held."""

    turn: Count
    position: Count


class PlaybackFinished(BaseMessage, frozen=True):
    """The last sample of answer `turn` left at `index`; the answer was `position` samples long."""

    turn: Count
    position: Count
    index: int


class PlaybackStopped(BaseMessage, frozen=True):
    """Answer `turn` was cut: `position` samples of it were played; silence from `index` on."""

    turn: Count
    position: Count
    index: int


class CardLost(BaseMessage, frozen=True):
    """The sound card was removed or cannot be opened."""

    direction: Literal["capture", "playback"]
    problem: LineText


class CardFound(BaseMessage, frozen=True):
    """The sound card is open, at its own rate."""

    direction: Literal["capture", "playback"]
    device: LineText
    rate_hz: int


class Dropouts(BaseMessage, frozen=True):
    """Number of dropouts (xruns) since the process started; sent when it changes."""

    direction: Literal["capture", "playback"]
    count: Count
