"""What an owner tries out on the page."""

from __future__ import annotations

from appliance.messages.limits import NameText
from appliance.messages.message import BaseMessage


class ShowLight(BaseMessage, frozen=True):
    """Show a row of the light's table for some seconds, so that an owner learns what it means."""

    pattern: NameText
