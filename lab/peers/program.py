"""Runs one program in the simulated room: `python -m lab.peers.program`. [process]

In: a start and requests on standard input. Out: answers on standard output (`lab.peers.pipe`). It
runs in an environment that holds the compared programs, not this project's.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import traceback
from typing import IO, Protocol

from appliance.sound_format import BLOCK_FRAMES, RATE_HZ
from lab.peers import pipe
from lab.peers.answer_log import AnswerLog
from lab.peers.pipe import Answer, Samples, Words
from lab.peers.simulated_time import BEGAN_S, SimulatedLoop, replace_clocks

# Program → module and class.
PROGRAMS = {
    "pipecat": ("lab.peers.pipecat_peer", "PipecatPeer"),
    "livekit": ("lab.peers.livekit_peer", "LivekitPeer"),
}
# A perfect recogniser with the delays that pipecat gives for Deepgram: the final result so long
# after the last word (its p99), interim ones so long after each word (assumed).
FINAL_S, INTERIM_S = 0.35, 0.2


class Peer(Protocol):
    """A program in the simulated room; made of a `Start`, the answer's sound and the loop."""

    log: AnswerLog

    @property
    def audible(self) -> bool:
        """Whether an answer sounds that the program means to go on with."""

    def check(self) -> None:
        """Raises what has ended the program."""

    def say(self, text: str, *, final: bool) -> None:
        """The recogniser's next result."""

    def play(self, at: int) -> Samples:
        """The block int16[80] that sounds from sample `at` on."""

    def process(self, mic: Samples) -> None:
        """Process int16[80] of the microphone; what is due by its end runs afterwards."""


def results(words: Words) -> list[tuple[float, str, bool]]:
    """What the recogniser says of a sound: (sample, text so far, whether it is final). The words
    are spread evenly over the sound."""
    said = words.text.split()
    if not said:
        return []
    each = (words.last - words.first) / len(said)
    interim = [
        (words.first + each * count + INTERIM_S * RATE_HZ, " ".join(said[:count]), False)
        for count in range(1, len(said) + 1)
    ]
    return [*interim, (words.last + FINAL_S * RATE_HZ, words.text, True)]


def serve(peer: Peer, loop: SimulatedLoop, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until the pipe ends."""
    at = 0
    pipe.write_answer(answers, Answer(peer.play(at), peer.audible, peer.log.pop_events()))
    while True:
        try:
            request = pipe.read_request(requests)
        except pipe.PipeClosed:
            return
        if isinstance(request, Words):
            for sample, text, final in results(request):
                when_s = BEGAN_S + sample / RATE_HZ
                loop.call_at(when_s, functools.partial(peer.say, text, final=final))
            continue
        at += BLOCK_FRAMES
        peer.log.now = at
        peer.process(request)
        loop.run_to(BEGAN_S + at / RATE_HZ)
        peer.check()
        samples = peer.play(at)
        pipe.write_answer(answers, Answer(samples, peer.audible, peer.log.pop_events()))


def main() -> None:
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a program prints goes to standard error
    start, talk = pipe.read_start(requests)
    loop = SimulatedLoop()
    code = 0
    try:
        module, name = PROGRAMS[start.program]
        peer_class = getattr(importlib.import_module(module), name)
        replace_clocks(loop)
        serve(peer_class(start, talk, loop), loop, requests, answers)
    except Exception:  # noqa: BLE001  # whatever it is, its last line is the other end's error
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    os._exit(code)  # tasks and threads of the program, which could go on, are left as they are


if __name__ == "__main__":
    main()
