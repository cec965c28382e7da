"""Pairing of a browser by six digits that the box speaks, or by a press of its button. Pure.

A person in the room hears the digits; a client in the network can only guess those of a code that
it had the box say itself. For the button the box says two digits that the browser shows, and a
press counts only once this was heard to its end, and only if nothing else has sounded since: a
press that silences something pairs no browser. On a development machine the first digits are
printed in the terminal from which the box was started.
"""

from __future__ import annotations

import hmac
import math
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from appliance.messages.commands import Announced, ButtonPressed, StateChanged
from appliance.messages.limits import MAX_COUNT
from appliance.messages.playback import PlaybackStarted
from appliance.messages.registry import Message
from appliance.messages.tools import TimersList
from appliance.page.announcement_limit import AnnouncementLimit

DIGITS, SHOWN_DIGITS = 6, 2
VALID_S = 120.0  # of a code, of the wait for an announcement, and of a press until the browser asks
PRESS_S = 30.0  # from the end of the announcement to the press
# A press is reported 0.35 s after its release (panel/button.py). One that is reported earlier was
# made before the announcement had ended, or with its last word.
REACTION_S = 0.5
TRIES = 5  # attempts for one code, each with a passphrase if one is required
WARN_AFTER, WARN_EVERY_S = 5, 3600.0  # wrong attempts until the owner is told, and how often
FRESH_S = 900.0  # after the start of the page, in which the box speaks at night, too
PRINTED = "INTERLUDE_PAGE_DIGITS"  # environment variable with digits printed at the start

Refusal = Literal["busy", "night", "wait"]


def draw_digits(count: int = DIGITS) -> str:
    return f"{secrets.randbelow(10**count):0{count}d}"


def spaced(digits: str) -> str:
    """Format the digits in two groups of three."""
    return f"{digits[:3]} {digits[3:]}"


def printed_digits(environment: Mapping[str, str] = os.environ) -> str:
    """The digits that were printed at the start; "" in a service, which has no terminal."""
    digits = environment.get(PRINTED, "")
    service = bool(environment.get("STATE_DIRECTORY"))
    return digits if len(digits) == DIGITS and digits.isdecimal() and not service else ""


@dataclass
class Attempt:
    """A browser that wants to be let in. `digits`: those that the box says; with `button` the
    browser shows them. `number`: of the announcement. `heard_s`: when it ended, for `button`.
    `void`: it was not heard, or something else sounded afterwards."""

    digits: str
    until_s: float
    button: bool = False
    tries: int = TRIES
    number: int = 0
    heard_s: float = math.inf
    void: bool = False
    pressed: bool = False
    printed: bool = False  # printed at the start, not spoken

    @property
    def heard(self) -> bool:
        return self.heard_s < math.inf

    @property
    def awaits_press(self) -> bool:
        return self.button and not self.void and not self.pressed


@dataclass
class Pairing:
    """Times are of one monotonic clock; `now_s`: of the start. `draw`: makes so many digits.
    `printed`: digits that pair one browser, without expiry; "" for none. A browser is known by the
    token that `begin` returned, and a client by its network (connection_places.py)."""

    draw: Callable[[int], str] = draw_digits
    now_s: float = 0.0
    printed: str = ""
    _attempts: dict[str, Attempt] = field(default_factory=dict)  # by token
    _wrong: int = 0  # attempts since a browser was let in
    _warned_s: float = -math.inf
    _rings: bool = False

    def __post_init__(self) -> None:
        self._limit = AnnouncementLimit(self.now_s)
        self._printed = Attempt(self.printed, math.inf, printed=True) if self.printed else None

    def refusal(self, client: str, now_s: float, *, button: bool, night: bool) -> Refusal | None:
        """Why the box may say no digits for `client` now; None: it may."""
        self._expire(now_s)
        if button and any(each.awaits_press for each in self._attempts.values()):
            return "busy"  # two announcements, and nobody knows which one a press is for
        if night and now_s >= self.now_s + FRESH_S:
            return "night"
        return "wait" if self.wait_s(client, now_s) else None

    def wait_s(self, client: str, now_s: float) -> float:
        """Seconds until the limit allows an announcement for `client`."""
        return self._limit.wait_s(client, now_s)

    def begin(
        self, token: str, client: str, now_s: float, *, button: bool = False
    ) -> tuple[str, Attempt]:
        """Begin to pair a browser; `refusal` was None. Returns its token, and the attempt whose
        digits are to be said. A code that is valid stays the same, so that it can be repeated."""
        self._limit.spend(client, now_s)
        self._printed = None
        attempt = self._attempts.pop(token, None)
        if attempt is None or attempt.button or button:
            token = secrets.token_urlsafe(24)
            attempt = Attempt(self.draw(SHOWN_DIGITS if button else DIGITS), 0.0, button)
        attempt.until_s = now_s + VALID_S
        attempt.number = secrets.randbelow(MAX_COUNT - 1) + 1
        self._attempts[token] = attempt
        return token, attempt

    def attempt(self, token: str, now_s: float) -> Attempt | None:
        """The attempt of a browser; without one, that of the printed digits."""
        self._expire(now_s)
        return self._attempts.get(token, self._printed)

    def check(
        self, token: str, typed: str, now_s: float, is_passphrase: Callable[[], bool]
    ) -> bool:
        """Whether the typed digits, or else a press, and the passphrase let a browser in. The
        attempt counts before either is looked at."""
        attempt = self.attempt(token, now_s)
        if attempt is None or attempt.tries <= 0:
            return False
        attempt.tries -= 1
        digits = "".join(letter for letter in typed[:40] if letter.isdecimal())
        right = not attempt.button and hmac.compare_digest(digits.encode(), attempt.digits.encode())
        # Both are always looked at: the time of a reply does not tell which one was wrong.
        if not (is_passphrase() and (right or attempt.pressed)):
            self._wrong += 1
            return False
        self._attempts.pop(token, None)
        self._printed = None
        self._wrong = 0
        self._limit = AnnouncementLimit(now_s)
        return True

    def pop_warning(self, now_s: float) -> bool:
        """Whether the owner should now be told that somebody guesses."""
        if self._wrong < WARN_AFTER or now_s < self._warned_s + WARN_EVERY_S:
            return False
        self._wrong, self._warned_s = 0, now_s
        return True

    def handle(self, message: Message, now_s: float) -> None:
        """Handle a message of the box: an announcement's end, a press, or another sound."""
        self._expire(now_s)
        match message:
            case Announced(number, heard):
                self._on_announced(number, now_s, heard=heard and not self._rings)
            case ButtonPressed("press"):
                self._press(now_s)
            case TimersList(timers):
                self._rings = any(timer.ringing for timer in timers)
                if self._rings:
                    self._on_sound()
            case PlaybackStarted() | StateChanged("thinking" | "speaking" | "holding"):
                self._on_sound()

    def _on_announced(self, number: int, now_s: float, *, heard: bool) -> None:
        for attempt in self._attempts.values():
            if attempt.button and attempt.number == number:
                attempt.void = not heard
                if heard:
                    attempt.heard_s, attempt.until_s = now_s, now_s + PRESS_S

    def _on_sound(self) -> None:
        """Something sounds: a press may be meant for it, until the next announcement."""
        for attempt in self._attempts.values():
            attempt.void |= attempt.awaits_press and attempt.heard

    def _press(self, now_s: float) -> None:
        for attempt in self._attempts.values():
            if attempt.awaits_press and attempt.heard_s + REACTION_S <= now_s:
                attempt.pressed, attempt.until_s = True, now_s + VALID_S

    def _expire(self, now_s: float) -> None:
        for token in [key for key, one in self._attempts.items() if one.until_s <= now_s]:
            del self._attempts[token]
