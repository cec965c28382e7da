"""Version of the protocol of voices' programs (protocol.py); importing it needs no numpy."""

from __future__ import annotations

PROTOCOL = 1
