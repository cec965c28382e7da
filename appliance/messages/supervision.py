"""Messages from the supervisor about the processes."""

from __future__ import annotations

from typing import Literal

from appliance.messages.limits import LineText, NameText
from appliance.messages.message import BaseMessage


class PartChanged(BaseMessage, frozen=True):
    """A process became ready (up), ended and will be restarted (down), or ended so often that it
    counts as failed until it is ready again; the supervisor keeps restarting it."""

    part: NameText
    state: Literal["up", "down", "failed"]
    problem: LineText = ""
