"""The card's clock: which sample index belongs to the n-th frame of a stream. Pure.

Index = CLOCK_MONOTONIC seconds × 16,000 where the stream began, from then on counted by the card:
counting is exact, the monotonic clock and the card's crystal drift apart by some ppm.
"""

from __future__ import annotations

from collections.abc import Iterable

from appliance.pcm import RATE_HZ

Pair = tuple[int, int]  # CLOCK_MONOTONIC ns, frames the card had taken or given by then

_PER_NS = RATE_HZ / 1e9
_WINDOW = 16  # observations; over these the best one counts (four seconds at four a second)


class CardClock:
    """One stream's frames ↔ indices.

    `factor`: card frames for each 16 kHz sample. `delay`: samples by which the conversion moves
    the sound: negative for capture (what comes out is older), positive for playback.

    A position read from a card is never ahead of the truth, only behind: by a frame on a good
    card, by a millisecond on a USB card. So of several readings the one that says the stream
    began earliest is the best.
    """

    def __init__(self, factor: int = 1, delay: int = 0) -> None:
        self._factor = factor
        self._delay = delay
        self._origin = 0
        self._window: list[float] = []
        self._lead: float | None = None

    def start(self, pairs: Iterable[Pair], lead: int = 0) -> None:
        """The stream has just begun, or begun anew after a dropout; `pairs` were read since.

        `lead`: samples that the card has counted beyond CLOCK_MONOTONIC in earlier streams (see
        `lead`), so that a restarted stream agrees with one on the same card that never stopped.
        """
        began = min(ns * _PER_NS - frames / self._factor for ns, frames in pairs)
        self._origin = round(began) + lead
        self._window.clear()
        self._lead = None

    def index(self, frames: int) -> int:
        """Index of the sample that is (playback: will be) frame `frames` of this stream."""
        return self._origin + frames // self._factor + self._delay

    def observe(self, pair: Pair) -> None:
        """Another reading, some time later: what `lead` is made of."""
        ns, frames = pair
        self._window.append(self._origin + frames / self._factor - ns * _PER_NS)
        if len(self._window) == _WINDOW:
            self._lead = max(self._window)
            self._window.clear()

    @property
    def lead(self) -> int | None:
        """Samples that the card's count is ahead of CLOCK_MONOTONIC by now; None: not known yet."""
        return None if self._lead is None else round(self._lead)
