"""The enrolment of an owner's voice on the page: what is said, what was heard, what came of it."""

from __future__ import annotations

from typing import Literal

from appliance.messages.hearing import Judgement
from appliance.messages.limits import Count, ShareValue
from appliance.messages.message import BaseMessage

EnrolmentWord = Literal["mm-hm", "yeah", "right", "wait", "stop", "no"]
# What is asked for, and what it means. Two of each class at the least: one word is not a manner.
WORDS: dict[EnrolmentWord, Judgement] = {
    "mm-hm": "backchannel",
    "yeah": "backchannel",
    "right": "backchannel",
    "wait": "interruption",
    "stop": "interruption",
    "no": "interruption",
}
TAKE_S = 2.2  # of a recording: a word, and silence before and after it

# Why a take is of no use (hear/bargein/enrolment.py): nothing in it; cut off at full scale; hardly
# above its own noise; over too soon; longer than a word; no onset found in it. "unlike": of all of
# them it fits least with what the others say.
TakeFault = Literal["silent", "clipped", "noisy", "short", "long", "no-word", "unlike"]
# "kept"; it is no better than as shipped; too few takes; they contradict each other; the program
# that learns came to an end, or could not write.
EnrolmentOutcome = Literal["kept", "no-better", "too-few", "contradict", "failed"]


class BeginEnrolment(BaseMessage, frozen=True):
    """Get ready to learn, as trial `number` of the page's own count."""

    number: Count


class AskTake(BaseMessage, frozen=True):
    """Ask the owner aloud for take `take` of enrolment `number`, and record it.

    `first`: explain it before. `fault`: of the take before, to be said.
    """

    number: Count
    take: Count
    word: EnrolmentWord
    first: bool = False
    fault: TakeFault | None = None


class TakeJudged(BaseMessage, frozen=True):
    """Whether take `take` of enrolment `number` is of use: None, or why not."""

    number: Count
    take: Count
    fault: TakeFault | None


class LearnEnrolment(BaseMessage, frozen=True):
    """That were all takes of enrolment `number`: learn from them."""

    number: Count


class EnrolmentLearnt(BaseMessage, frozen=True):
    """What came of enrolment `number`: `before` and `after`, the shares of its takes that the
    shipped network judges right, and the one that the others have taught. `worst`: the take that
    contradicts the others; 0: none."""

    number: Count
    outcome: EnrolmentOutcome
    before: ShareValue = 0.0
    after: ShareValue = 0.0
    worst: Count = 0


class OwnerVoiceChanged(BaseMessage, frozen=True):
    """What was enrolled is another one, or gone: it is to be read again."""
