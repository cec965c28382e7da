"""A program in the room without any package: each result of the recogniser ends its answer, and a
final "hm" only pauses it. Its settings: `fails` ends it at once.

Run in place of `lab.peers.program` by the tests of the other end.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from appliance.sound_format import BLOCK_FRAMES, RATE_HZ
from lab.peers import pipe
from lab.peers.answer_log import AnswerLog
from lab.peers.pipe import Samples, Start
from lab.peers.program import serve
from lab.peers.simulated_time import SimulatedLoop

PAUSE_FRAMES = RATE_HZ // 2
REPLY_FRAMES = 2 * RATE_HZ


class FakePeer:
    def __init__(self, start: Start, talk: Samples) -> None:
        self.log = AnswerLog(talk, start.asked)
        self.answering = False
        self.paused_until = 0
        self.reply_at: int | None = None

    @property
    def audible(self) -> bool:
        return self.log.audible

    def check(self) -> None:
        """It does not end by itself."""

    def say(self, text: str, *, final: bool) -> None:
        if not final or not self.answering:
            return
        self.log.note("stopped")
        self.paused_until = self.log.now + PAUSE_FRAMES
        if text != "hm":
            self.log.note("dropped")
            self.answering = False
            self.reply_at = self.log.now + REPLY_FRAMES

    def play(self, at: int) -> Samples:
        if self.log.due(at) or at == self.reply_at:
            self.answering = True
        if self.answering and at == self.paused_until:
            self.log.note("resumed")
        sounds = self.answering and at >= self.paused_until
        self.log.played(at, audible=sounds)
        return self.log.next_samples(BLOCK_FRAMES) if sounds else np.zeros(BLOCK_FRAMES, np.int16)

    def process(self, mic: Samples) -> None:
        """It hears only what the recogniser says."""


def main() -> None:
    start, talk = pipe.read_start(sys.stdin.buffer)
    if "fails" in start.options:
        sys.exit("ImportError: no such library")
    with os.fdopen(os.dup(1), "wb") as answers:
        serve(FakePeer(start, talk), SimulatedLoop(), sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
