"""The lines between the listener and the program that learns an owner's voice: JSON, one each.

For both ends: it imports nothing of the learning.
"""

from __future__ import annotations

import msgspec

from appliance.messages.enrolling import EnrolmentOutcome, TakeFault
from appliance.messages.hearing import Judgement
from appliance.settings import HearingSettings


class LearningBegins(msgspec.Struct, frozen=True, tag=True):
    """The first line."""

    hearing: HearingSettings
    state: str


class TakeComes(msgspec.Struct, frozen=True, tag=True):
    """Behind this line are `frames` samples, int16, of take `take`."""

    take: int
    kind: Judgement
    frames: int


class AllTold(msgspec.Struct, frozen=True, tag=True):
    """There are no more takes: learn."""


class TakeScored(msgspec.Struct, frozen=True, tag=True):
    take: int
    fault: TakeFault | None


class LearningEnds(msgspec.Struct, frozen=True, tag=True):
    """As EnrolmentLearnt (messages/enrolling.py)."""

    outcome: EnrolmentOutcome
    before: float = 0.0
    after: float = 0.0
    worst: int = 0


ProgramReply = TakeScored | LearningEnds


def encode(line: LearningBegins | TakeComes | AllTold | ProgramReply) -> bytes:
    return msgspec.json.encode(line) + b"\n"
