"""The program that learns an owner's voice: checks each take, then fits the correction.

In, on standard input: lines of JSON, each take followed by its samples. Out: a line for each. The
listener starts it (learning_program.py) with its own privileges; it runs beside the conversation at
a low priority. The takes exist only in its memory. It writes the correction atomically at the end,
and not if the listener has died meanwhile.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec
import numpy as np

from appliance.errors import InterludeError
from appliance.hear.bargein import adaptation, enrolment, network
from appliance.hear.bargein.enrolment import EnrolmentError, EnrolmentRecording, ScoredRecording
from appliance.hear.bargein.enrolment_lines import (
    AllTold,
    LearningBegins,
    LearningEnds,
    ProgramReply,
    TakeComes,
    TakeScored,
    encode,
)
from appliance.messages.enrolling import EnrolmentOutcome

_NICE = 5  # as for the speaker, which is idle meanwhile


def run(
    given: IO[bytes],
    tell: Callable[[ProgramReply], None],
    *,
    wanted: Callable[[], bool],
) -> None:
    """Serve requests until AllTold or the end of `given`. `wanted`: the listener is still there."""
    begins = msgspec.json.decode(given.readline(), type=LearningBegins)
    model = network.VerdictNetwork()
    heard: list[ScoredRecording] = []
    while line := given.readline():
        told = msgspec.json.decode(line, type=TakeComes | AllTold)
        if isinstance(told, AllTold):
            tell(_learnt(heard, Path(begins.state), wanted))
            return
        sound = given.read(2 * told.frames)
        if len(sound) < 2 * told.frames:
            return
        samples = np.frombuffer(sound, np.int16)
        take = EnrolmentRecording(str(told.take), told.kind, samples)
        try:
            heard.append(enrolment.score(take, begins.hearing, model))
        except EnrolmentError as error:
            tell(TakeScored(told.take, error.fault))
        else:
            tell(TakeScored(told.take, None))


def _learnt(heard: list[ScoredRecording], state: Path, wanted: Callable[[], bool]) -> LearningEnds:
    try:
        learnt = enrolment.learn(heard, adaptation.anchors(), network.fingerprint())
        if learnt.helps and not wanted():
            return LearningEnds("failed")
        if learnt.helps:
            adaptation.save(learnt.adaptation, state)
    except EnrolmentError as error:
        if error.fault == "unlike":
            return LearningEnds("contradict", worst=int(error.take))
        return LearningEnds("too-few")
    except InterludeError as error:
        sys.stderr.write(f"{error}\n")
        return LearningEnds("failed")
    outcome: EnrolmentOutcome = "kept" if learnt.helps else "no-better"
    return LearningEnds(outcome, learnt.before, learnt.after)


def main() -> int:
    os.nice(_NICE)
    poll = select.poll()
    poll.register(sys.stdin.fileno(), 0)  # POLLHUP is always reported

    def tell(what: ProgramReply) -> None:
        sys.stdout.buffer.write(encode(what))
        sys.stdout.buffer.flush()

    run(sys.stdin.buffer, tell, wanted=lambda: not poll.poll(0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
