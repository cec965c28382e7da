"""The command that starts the voice hibari. Imports nothing of its network."""

from __future__ import annotations

import sys
from pathlib import Path

NAME = "hibari"
# The default of the setting; at it the voice has the pace at which it was trained. From 120 to 200
# words the pace is that of espeak-ng at the same number, within a tenth. The network is made for
# half to twice its own pace.
WORDS_PER_MINUTE = 165
_SLOWEST, _FASTEST = 0.5, 2.0


def command(words_per_minute: int) -> tuple[str, ...]:
    """The command of its program, with the pace as a factor."""
    speed = min(max(words_per_minute / WORDS_PER_MINUTE, _SLOWEST), _FASTEST)
    return (sys.executable, "-P", str(Path(__file__).with_name("program.py")), f"{speed:.2f}")
