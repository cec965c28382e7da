"""What an owner tries out on the page."""

from __future__ import annotations

from typing import Literal

from appliance.messages.limits import Count, NameText
from appliance.messages.message import BaseMessage

# What can be tried with sound: the loudspeaker's tone.
TrialKind = Literal["tone"]
# Why not now: somebody talks or an answer sounds; the loudspeaker or what serves it is away.
TrialRefusal = Literal["busy", "no-voice"]


class StartTrial(BaseMessage, frozen=True):
    """Try it now, as trial `number` of the page's own count."""

    number: Count
    kind: TrialKind


class TrialRefused(BaseMessage, frozen=True):
    """Trial `number` cannot be done now, or came to nothing."""

    number: Count
    why: TrialRefusal


class ShowLight(BaseMessage, frozen=True):
    """Show a row of the light's table for some seconds, so that an owner learns what it means."""

    pattern: NameText
