"""What an open set-up says by itself: how to join its Wi-Fi, and where the box is. Pure.

Time is that of the set-up's clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

REPEAT_S = 90.0  # between two invitations to join
REPEATS = 20  # invitations in half an hour; then the Wi-Fi stays open in silence
AGAIN_S = 3.0  # between two tries to say something while the box is starting
IDENTIFY_S = 60.0  # least time between two answers to identify requests, which anyone may send


@dataclass
class SetupInvitations:
    """Limits how often an open set-up speaks. `says`: says a sentence aloud; False if the box did
    not take it. `most`: invitations."""

    says: Callable[[str], bool]
    most: int = REPEATS
    _invitations: int = 0
    _invite_s: float = float("-inf")  # earliest time of the next invitation
    _identify_s: float = float("-inf")  # earliest time of the next answer

    def invite(self, sentence: Callable[[], str], now_s: float) -> None:
        """Say how to join, if it is time."""
        if self._invitations < self.most and now_s >= self._invite_s:
            taken = self.says(sentence())
            self._invitations += taken
            self._invite_s = now_s + (REPEAT_S if taken else AGAIN_S)

    def identify(self, sentence: str, now_s: float) -> None:
        """Answer an identify request of a phone, unless the last answer is too recent."""
        if now_s >= self._identify_s:
            self._identify_s = now_s + IDENTIFY_S
            self.says(sentence)
