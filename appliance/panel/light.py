"""The table of light patterns: how the light shows what the box is doing. Pure: no LED, no clock.

Every pattern has a rhythm of its own, so that it can be recognised without seeing colour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import time
from typing import Literal

Colour = tuple[float, float, float]  # red, green, blue; 0 to 1
Shape = Literal["steady", "breath", "blink"]

OFF: Colour = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class LightPattern:
    """One row.

    colour   at full brightness
    shape    "steady"; "breath": a raised cosine, never quite dark; "blink": on and off
    flashes  of a "blink": how many in one period
    period_s of one repetition
    lit      of a "blink": the share of each flash's time that is lit
    says     text on the owner's page
    """

    colour: Colour
    shape: Shape
    period_s: float
    flashes: int
    lit: float
    says: str


_WHITE, _RED, _AMBER = (1.0, 1.0, 1.0), (1.0, 0.0, 0.0), (1.0, 0.5, 0.0)
_BLUE, _GREEN, _VIOLET = (0.0, 0.3, 1.0), (0.0, 1.0, 0.2), (0.7, 0.0, 1.0)

# Most urgent first: of all conditions that are true, the light shows the first.
PATTERNS: dict[str, LightPattern] = {
    #                          colour   shape   period flashes lit
    "reset_armed": LightPattern(_RED, "blink", 2.50, 5, 0.50, "press again to erase everything"),
    "reset_warning": LightPattern(_RED, "blink", 0.35, 1, 0.50, "keep holding to reset, or let go"),
    "setup_warning": LightPattern(_WHITE, "blink", 0.50, 1, 0.50, "keep holding for set-up"),
    "muted": LightPattern(_RED, "steady", 1.00, 1, 1.00, "the microphone is off"),
    "no_card": LightPattern(_RED, "blink", 4.00, 3, 0.25, "sound card missing or incomplete"),
    "failed": LightPattern(_RED, "blink", 2.00, 3, 0.50, "a part has failed"),
    "updating": LightPattern(_VIOLET, "blink", 2.00, 2, 0.80, "updating; leave the plug in"),
    "setup": LightPattern(_WHITE, "blink", 2.00, 1, 0.50, "waiting to be set up"),
    "holding": LightPattern(_AMBER, "blink", 0.60, 2, 0.50, "paused; heard something"),
    "recording": LightPattern(_GREEN, "blink", 0.80, 1, 0.75, "records or plays your test"),
    "listening": LightPattern(_GREEN, "blink", 1.20, 1, 0.90, "hears you"),
    "thinking": LightPattern(_BLUE, "blink", 0.80, 1, 0.30, "thinks"),
    "ringing": LightPattern(_WHITE, "blink", 1.50, 4, 0.50, "a timer or an alarm rings"),
    "speaking": LightPattern(_BLUE, "breath", 2.00, 1, 1.00, "speaks"),
    "starting": LightPattern(_WHITE, "breath", 1.00, 1, 1.00, "starting"),
    "too_hot": LightPattern(_AMBER, "blink", 4.00, 4, 0.40, "too hot, or the supply is weak"),
    "fetching": LightPattern(_BLUE, "breath", 4.00, 1, 1.00, "fetches its model"),
    "no_broker": LightPattern(_AMBER, "blink", 4.00, 2, 0.20, "no connection to the broker"),
    "idle": LightPattern(_WHITE, "blink", 6.00, 1, 0.02, "ready"),
}
BREATH_STEP_S = 0.04  # 25 steps a second: not visible in a breath of a second or longer
_FLOOR = 0.1  # minimum level of a breath, so that it does not look like a blink


def choose(conditions: set[str]) -> str:
    """The most urgent of the conditions that are true. Raises KeyError for an unknown name."""
    unknown = conditions - PATTERNS.keys()
    if unknown:
        raise KeyError(f"no light pattern is called {sorted(unknown)[0]}")
    return next((name for name in PATTERNS if name in conditions), "idle")


def level(pattern: LightPattern, age_s: float) -> float:
    """The pattern's brightness, 0 to 1, `age_s` after its start. Every pattern starts lit, so that
    a change is visible at once."""
    phase = (age_s % pattern.period_s) / pattern.period_s
    if pattern.shape == "steady":
        return 1.0
    if pattern.shape == "breath":
        return _FLOOR + (1 - _FLOOR) * (0.5 + 0.5 * math.cos(2 * math.pi * phase))
    if pattern.flashes == 1:
        return float(phase < pattern.lit)
    beat = phase * (pattern.flashes + 1)  # the last beat of the group is the pause after it
    return float(beat < pattern.flashes and beat % 1.0 < pattern.lit)


def until_change_s(pattern: LightPattern, age_s: float) -> float:
    """Seconds until `level` changes: infinite for "steady", BREATH_STEP_S for "breath"."""
    if pattern.shape == "steady":
        return math.inf
    if pattern.shape == "breath":
        return BREATH_STEP_S
    beats = pattern.flashes + 1 if pattern.flashes > 1 else 1
    beat_s = pattern.period_s / beats
    edges = [
        (number + part) * beat_s for number in range(pattern.flashes) for part in (0.0, pattern.lit)
    ]
    now_s = age_s % pattern.period_s
    return next((edge for edge in edges if edge > now_s), pattern.period_s) - now_s


def shown(name: str, age_s: float, brightness: float = 1.0) -> Colour:
    """The colour to show now. `brightness` 0 to 1 is the owner's, by day or by night.

    Raises KeyError for a name that is not in the table.
    """
    pattern = PATTERNS[name]
    scale = level(pattern, age_s) * min(1.0, max(0.0, brightness))
    red, green, blue = pattern.colour
    return (red * scale, green * scale, blue * scale)


def is_night(now: time, begins: time, ends: time) -> bool:
    """Whether `now` is in the night, which may span midnight. With equal ends there is no night."""
    if begins <= ends:
        return begins <= now < ends
    return now >= begins or now < ends
