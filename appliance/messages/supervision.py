"""Messages from the supervisor about the processes."""

from __future__ import annotations

from typing import Literal

from appliance.messages.limits import LineText, NameText
from appliance.messages.message import BaseMessage


class PartChanged(BaseMessage, frozen=True):
    """A process came up (ready), went down (to be started again), or went down so often that it
    counts as failed until it is up; it is started again all the same."""

    part: NameText
    state: Literal["up", "down", "failed"]
    problem: LineText = ""
