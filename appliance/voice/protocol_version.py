"""The number of the protocol of voices' programs (protocol.py): who compares it needs no sound."""

from __future__ import annotations

PROTOCOL = 1
