"""Selects the card that a process opens, while cards are plugged and unplugged.

In: `card.capture` or `card.playback`, the kernel's list of cards. Out: an ALSA name; CardMoved when
`auto` prefers another card. A device that the settings name is used without any check.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from appliance.audio.cards import AUTO, Direction, device
from appliance.errors import CardError
from appliance.settings import CardSettings

DEV_SND = Path("/dev/snd")  # its mtime changes with every card; stat(2) takes no driver's lock
SETTLE_S = 2.0  # the kernel lists a card a moment after it has made the device files


class CardMoved(CardError):
    """Another card has to be opened; the old one may still be there."""


class CardSelection:
    """Selection for one direction. `find` and `folder` are the machine's, except in tests."""

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
        """Look for a better card; call it a few times a second while `name` is open. Raises
        CardMoved."""
        if not self._auto:
            return
        stamp = self._changed_ns()
        if stamp != self._stamp:
            self._stamp, self._look_until_s = stamp, now_s + SETTLE_S
        if now_s >= self._look_until_s:
            return
        try:
            better = self._find(self._card, self._direction)
        except CardError:  # if the open card was unplugged, its stream raises
            return
        if better != self._name:
            raise CardMoved(f"{better} is used from now on, in place of {self._name}.")

    def _changed_ns(self) -> int:
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return 0
