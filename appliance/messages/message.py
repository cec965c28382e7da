"""What every message is made of."""

from __future__ import annotations

import msgspec


class BaseMessage(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A message: frozen, tagged with its own name."""
