"""The protocol between the listener and the program that learns an owner's voice: lines of JSON.

Both ends import it, so it imports nothing of the learning.
"""

from __future__ import annotations

import msgspec

from appliance.messages.enrolling import EnrolmentOutcome, TakeFault
from appliance.messages.hearing import Judgement
from appliance.settings import HearingSettings


class LearningBegins(msgspec.Struct, frozen=True, tag=True):
    """The first line: settings, and the folder of the state."""

    hearing: HearingSettings
    state: str


class TakeComes(msgspec.Struct, frozen=True, tag=True):
    """Take `take`: `frames` int16 samples follow this line."""

    take: int
    kind: Judgement
    frames: int


class AllTold(msgspec.Struct, frozen=True, tag=True):
    """All takes were sent: learn."""


class TakeScored(msgspec.Struct, frozen=True, tag=True):
    take: int
    fault: TakeFault | None


class LearningEnds(msgspec.Struct, frozen=True, tag=True):
    """The result; fields as in EnrolmentLearnt (messages/enrolling.py)."""

    outcome: EnrolmentOutcome
    before: float = 0.0
    after: float = 0.0
    worst: int = 0


ProgramReply = TakeScored | LearningEnds


def encode(line: LearningBegins | TakeComes | AllTold | ProgramReply) -> bytes:
    return msgspec.json.encode(line) + b"\n"
