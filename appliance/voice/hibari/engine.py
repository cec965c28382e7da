"""How the voice is started. Nothing of its network is imported here."""

from __future__ import annotations

import sys
from pathlib import Path

NAME = "hibari"
# The setting where nobody changed it: then the voice keeps the pace it was trained at. From 120 to
# 200 words it is espeak-ng's at the same number, within a tenth. The network was made for paces
# from half to twice of that.
WORDS_PER_MINUTE = 165
_SLOWEST, _FASTEST = 0.5, 2.0


def command(words_per_minute: int) -> tuple[str, ...]:
    """Its program, at that pace."""
    speed = min(max(words_per_minute / WORDS_PER_MINUTE, _SLOWEST), _FASTEST)
    return (sys.executable, "-P", str(Path(__file__).with_name("program.py")), f"{speed:.2f}")
