"""Which card a process has to have open, while cards come and go.

In: `card.capture` or `card.playback`, what the kernel shows. Out: an ALSA name; CardMoved when a
card that fits better has come. Where the settings name a device, that one is taken unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from appliance.audio.cards import AUTO, Direction, device
from appliance.errors import CardError
from appliance.settings import CardSettings

DEV_SND = Path("/dev/snd")  # changes with every card; a look at it takes no lock of a driver's
SETTLE_S = 2.0  # the kernel lists a card a moment after it has made its files


class CardMoved(CardError):
    """Another card is to be opened. No card was lost."""


class CardSelection:
    """Of one direction. `find` and `folder` are the machine's unless a test has others."""

    def __init__(
        self,
        card: CardSettings,
        direction: Direction,
        find: Callable[[CardSettings, Direction], str] = device,
        folder: Path = DEV_SND,
    ) -> None:
        self._card = card
        self._direction: Direction = direction
        self._find = find
        self._folder = folder
        self._auto = (card.capture if direction == "capture" else card.playback) == AUTO
        self._name = ""
        self._stamp = 0
        self._look_until_s = float("-inf")

    def name(self) -> str:
        """The device to open now. Raises CardError where `auto` finds none."""
        self._stamp = self._changed_ns()
        self._name = self._find(self._card, self._direction)
        return self._name

    def poll(self, now_s: float) -> None:
        """While that device is open, a few times a second. Raises CardMoved."""
        if not self._auto:
            return
        stamp = self._changed_ns()
        if stamp != self._stamp:
            self._stamp, self._look_until_s = stamp, now_s + SETTLE_S
        if now_s >= self._look_until_s:
            return
        try:
            better = self._find(self._card, self._direction)
        except CardError:  # if it was this one that went, its stream says so
            return
        if better != self._name:
            raise CardMoved(f"{better} is used from now on, in place of {self._name}.")

    def _changed_ns(self) -> int:
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return 0
