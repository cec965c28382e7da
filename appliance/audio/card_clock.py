"""The card's clock: maps the n-th frame of a stream to a sample index. Pure.

The index of a stream's first sample is CLOCK_MONOTONIC seconds × 16,000; from there the card's
frames are counted, because the monotonic clock and the card's crystal drift apart by some ppm.
"""

from __future__ import annotations

from collections.abc import Iterable

from appliance.pcm import RATE_HZ

Pair = tuple[int, int]  # CLOCK_MONOTONIC ns, frames that had passed the converter by then

_PER_NS = RATE_HZ / 1e9
_WINDOW = 16  # observations, of which the best one is used (4 s at 4 a second)


class CardClock:
    """Converts frames of one stream to sample indices.

    `factor`: card frames per 16 kHz sample. `delay`: samples by which the rate conversion shifts
    the sound: negative for capture (its output is older than its input), positive for playback.

    A position read from a card is never ahead of the true one, only behind: by a frame on a good
    card, by a millisecond on a USB card. Of several readings the one that gives the earliest start
    of the stream is therefore the best.
    """

    def __init__(self, factor: int = 1, delay: int = 0) -> None:
        self._factor = factor
        self._delay = delay
        self._origin = 0
        self._window: list[float] = []
        self._lead: float | None = None

    def start(self, pairs: Iterable[Pair], lead: int = 0) -> None:
        """Set the origin of a stream that has just started or restarted; `pairs` were read since.

        `lead`: samples that the card has counted beyond CLOCK_MONOTONIC in earlier streams (see
        the property), so that a restarted stream agrees with one of the same card that went on.
        """
        began = min(ns * _PER_NS - frames / self._factor for ns, frames in pairs)
        self._origin = round(began) + lead
        self._window.clear()
        self._lead = None

    def index(self, frames: int) -> int:
        """Sample index of frame `frames` of this stream."""
        return self._origin + frames // self._factor + self._delay

    def observe(self, pair: Pair) -> None:
        """Add a later reading, from which `lead` is computed."""
        ns, frames = pair
        self._window.append(self._origin + frames / self._factor - ns * _PER_NS)
        if len(self._window) == _WINDOW:
            self._lead = max(self._window)
            self._window.clear()

    @property
    def lead(self) -> int | None:
        """Samples by which the card's count is ahead of CLOCK_MONOTONIC; None: not known yet."""
        return None if self._lead is None else round(self._lead)
