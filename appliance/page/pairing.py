"""Pairing of a browser by six digits that the box speaks, or by a press of its button. Pure.

A person in the room hears the digits; a client in the network can only guess them, a few times an
hour. The button pairs the browser that waits for it, and none if several wait. On a development
machine the first digits are printed in the terminal from which the box was started.
"""

from __future__ import annotations

import hmac
import math
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from appliance.token_bucket import TokenBucket

DIGITS = 6
VALID_S = 120.0  # lifetime of a code, and timeout of waiting for the button
TRIES = 5  # attempts for one code
MOST_WRONG, WRONG_A_SECOND = 15, 15 / 3600  # wrong attempts: burst, and then average rate
MOST_SAID, SAID_A_SECOND = 3, 1 / 60  # announcements of the code: burst, and then average rate
MOST_WAITING = 8  # browsers that wait for the button
PRINTED = "INTERLUDE_PAGE_DIGITS"  # environment variable with digits printed at the start


def draw_digits() -> str:
    return f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}"


def spaced(digits: str) -> str:
    """Format the digits in two groups of three."""
    return f"{digits[:3]} {digits[3:]}"


def printed_digits(environment: Mapping[str, str] = os.environ) -> str:
    """The digits that were printed at the start; "" in a service, which has no terminal."""
    digits = environment.get(PRINTED, "")
    service = bool(environment.get("STATE_DIRECTORY"))
    return digits if len(digits) == DIGITS and digits.isdecimal() and not service else ""


@dataclass
class _Code:
    digits: str
    until_s: float
    tries: int = TRIES
    printed: bool = False  # printed at the start, not spoken


@dataclass
class Pairing:
    """Times are of one monotonic clock. `draw`: makes the digits. `printed`: digits that pair one
    browser, without expiry; "" for none."""

    draw: Callable[[], str] = draw_digits
    now_s: float = 0.0
    printed: str = ""
    _code: _Code | None = None
    _waiting: dict[str, float] = field(default_factory=dict)  # browser → expiry
    _paired: dict[str, float] = field(default_factory=dict)  # paired by the button → expiry

    def __post_init__(self) -> None:
        self._wrong = TokenBucket(MOST_WRONG, WRONG_A_SECOND, self.now_s)
        self._said = TokenBucket(MOST_SAID, SAID_A_SECOND, self.now_s)
        if self.printed:
            self._code = _Code(self.printed, math.inf, printed=True)

    def may_speak(self, now_s: float) -> bool:
        """Whether the rate limit allows one more announcement for an unpaired browser."""
        return self._said.try_spend(now_s)

    def code(self, now_s: float) -> str:
        """The digits to speak now; "" after too many wrong attempts. They stay the same while they
        are valid, so that they can be repeated."""
        if self._wrong.tokens(now_s) < 1.0:
            return ""
        if not self.is_asked_for(now_s) or self.is_printed():
            self._code = _Code(self.draw(), now_s + VALID_S)
        assert self._code is not None
        return self._code.digits

    def is_asked_for(self, now_s: float) -> bool:
        """Whether a code was issued and may still be entered."""
        return self._code is not None and now_s < self._code.until_s and self._code.tries > 0

    def is_printed(self) -> bool:
        """Whether the valid digits are those that were printed at the start."""
        return self._code is not None and self._code.printed

    def check(self, typed: str, now_s: float) -> bool:
        """Whether the typed digits are right and within the limits; a code pairs one browser."""
        if not self.is_asked_for(now_s) or not self._wrong.try_spend(now_s):
            return False
        assert self._code is not None
        digits = "".join(letter for letter in typed[:40] if letter.isdecimal())
        if not hmac.compare_digest(digits.encode(), self._code.digits.encode()):
            self._code.tries -= 1
            return False
        self._wrong.spend(-1)
        self._code = None
        return True

    def wait_for_button(self, now_s: float) -> str:
        """Register a browser that waits for the button. Returns its token; "" if too many wait."""
        self._expire(now_s)
        if len(self._waiting) >= MOST_WAITING:
            return ""
        token = secrets.token_urlsafe(24)
        self._waiting[token] = now_s + VALID_S
        return token

    def press(self, now_s: float) -> int:
        """Handle a press. Returns how many browsers waited; a single one is paired."""
        self._expire(now_s)
        waited = len(self._waiting)
        if waited == 1:
            self._paired.update(dict.fromkeys(self._waiting, now_s + VALID_S))
        self._waiting.clear()
        return waited

    def waits(self, token: str, now_s: float) -> bool:
        self._expire(now_s)
        return token in self._waiting

    def pop_let_in(self, token: str, now_s: float) -> bool:
        """Whether the button has paired that browser; True only once."""
        self._expire(now_s)
        return self._paired.pop(token, None) is not None

    def _expire(self, now_s: float) -> None:
        for pending in (self._waiting, self._paired):
            for token in [token for token, until_s in pending.items() if until_s <= now_s]:
                del pending[token]
