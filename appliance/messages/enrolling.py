"""Messages of an enrolment on the page: which word to say, how each take was, and the result."""

from __future__ import annotations

from typing import Literal

from appliance.messages.hearing import Judgement
from appliance.messages.limits import Count, ShareValue
from appliance.messages.message import BaseMessage

EnrolmentWord = Literal["mm-hm", "yeah", "right", "wait", "stop", "no"]
# Words that are asked for, with their class. At least two of each class, so that the correction
# learns the class and not one word.
WORDS: dict[EnrolmentWord, Judgement] = {
    "mm-hm": "backchannel",
    "yeah": "backchannel",
    "right": "backchannel",
    "wait": "interruption",
    "stop": "interruption",
    "no": "interruption",
}
TAKE_S = 2.2  # length of a recording: a word, and silence before and after it

# Why a take is unusable (hear/bargein/enrolment.py): silent; clipped at full scale; too little
# above its own noise; too short; longer than a word; no onset found in it. "unlike": of all takes
# it agrees least with the others.
TakeFault = Literal["silent", "clipped", "noisy", "short", "long", "no-word", "unlike"]
# Saved; no better than the shipped network; too few takes; takes that contradict each other; the
# learning program ended early or could not write its file.
EnrolmentOutcome = Literal["kept", "no-better", "too-few", "contradict", "failed"]


class BeginEnrolment(BaseMessage, frozen=True):
    """Start enrolment `number`, a number that the page assigns."""

    number: Count


class AskTake(BaseMessage, frozen=True):
    """Ask the owner aloud for take `take` of enrolment `number`, and record it.

    `first`: explain the procedure first. `fault`: fault of the previous take, to be spoken.
    """

    number: Count
    take: Count
    word: EnrolmentWord
    first: bool = False
    fault: TakeFault | None = None


class TakeJudged(BaseMessage, frozen=True):
    """Whether take `take` of enrolment `number` is usable: `fault` is None, or says why not."""

    number: Count
    take: Count
    fault: TakeFault | None


class LearnEnrolment(BaseMessage, frozen=True):
    """All takes of enrolment `number` are recorded: learn from them."""

    number: Count


class EnrolmentLearnt(BaseMessage, frozen=True):
    """Result of enrolment `number`. `before` and `after`: shares of its takes that the shipped
    network classifies correctly, and that the network corrected by the other takes does.
    `worst`: the take that contradicts the others; 0: none."""

    number: Count
    outcome: EnrolmentOutcome
    before: ShareValue = 0.0
    after: ShareValue = 0.0
    worst: Count = 0


class OwnerVoiceChanged(BaseMessage, frozen=True):
    """The enrolled correction was replaced or deleted: the listener reads it again."""
