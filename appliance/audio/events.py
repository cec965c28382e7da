"""Messages of playback and capture. `index` counts the card's samples, `position` the answer's."""

from __future__ import annotations

from typing import Literal

from appliance.ipc.record import Record


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
