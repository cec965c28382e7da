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
from appliance.hear.bargein import adaptation, network
from appliance.hear.bargein.enrolment import (
    EnrolmentError,
    EnrolmentRecording,
    EnrolmentResult,
    ScoredRecording,
    learn,
    score,
)
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
from appliance.settings import HearingSettings

Score = Callable[[EnrolmentRecording, HearingSettings, network.VerdictNetwork], ScoredRecording]
Learn = Callable[[list[ScoredRecording], adaptation.NetworkOutputs, str], EnrolmentResult]
_NICE = 5  # as for the speaker, which is idle meanwhile


def run(
    requests: IO[bytes],
    reply: Callable[[ProgramReply], None],
    *,
    wanted: Callable[[], bool],
    score: Score = score,
    learn: Learn = learn,
) -> None:
    """Serve `requests` until AllTold or their end. `wanted`: the listener is still there.
    `score` and `learn`: those of enrolment.py, which compute for seconds."""
    first_line = msgspec.json.decode(requests.readline(), type=LearningBegins)
    model = network.VerdictNetwork()
    scored: list[ScoredRecording] = []
    while line := requests.readline():
        request = msgspec.json.decode(line, type=TakeComes | AllTold)
        if isinstance(request, AllTold):
            reply(_learn(learn, scored, Path(first_line.state), wanted))
            return
        data = requests.read(2 * request.frames)
        if len(data) < 2 * request.frames:
            return
        samples = np.frombuffer(data, np.int16)
        take = EnrolmentRecording(str(request.take), request.kind, samples)
        try:
            scored.append(score(take, first_line.hearing, model))
        except EnrolmentError as error:
            reply(TakeScored(request.take, error.fault))
        else:
            reply(TakeScored(request.take, None))


def _learn(
    learn: Learn, scored: list[ScoredRecording], state: Path, wanted: Callable[[], bool]
) -> LearningEnds:
    try:
        result = learn(scored, adaptation.anchors(), network.fingerprint())
        if result.helps and not wanted():
            return LearningEnds("failed")
        if result.helps:
            adaptation.save(result.adaptation, state)
    except EnrolmentError as error:
        if error.fault == "unlike":
            return LearningEnds("contradict", worst=int(error.take))
        return LearningEnds("too-few")
    except InterludeError as error:
        sys.stderr.write(f"{error}\n")
        return LearningEnds("failed")
    outcome: EnrolmentOutcome = "kept" if result.helps else "no-better"
    return LearningEnds(outcome, result.before, result.after)


def main() -> int:
    os.nice(_NICE)
    poll = select.poll()
    poll.register(sys.stdin.fileno(), 0)  # POLLHUP is always reported

    def reply(message: ProgramReply) -> None:
        sys.stdout.buffer.write(encode(message))
        sys.stdout.buffer.flush()

    run(sys.stdin.buffer, reply, wanted=lambda: not poll.poll(0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
