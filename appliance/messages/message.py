"""The base class of all messages."""

from __future__ import annotations

import msgspec


class BaseMessage(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """An immutable message, tagged with the name of its class."""
