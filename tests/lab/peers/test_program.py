"""The program in the room: requests, the recogniser's results at their times, the end."""

from __future__ import annotations

import io

import numpy as np
import pytest

from appliance.sound_format import BLOCK_FRAMES, RATE_HZ
from lab.peers import pipe
from lab.peers.answer_log import AnswerLog
from lab.peers.pipe import Event, PipeClosed, Samples, Words
from lab.peers.program import FINAL_S, INTERIM_S, results, serve
from lab.peers.simulated_time import BEGAN_S, SimulatedLoop

SILENCE = np.zeros(BLOCK_FRAMES, np.int16)


class EchoingPeer:
    """Plays the last block of the microphone, and stops at every final result."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self.log = AnswerLog(np.ones(10, np.int16), 0)
        self.audible = True
        self.said: list[tuple[int, str, bool]] = []
        self.checked = 0
        self._loop = loop
        self._last = SILENCE

    def check(self) -> None:
        self.checked += 1

    def say(self, text: str, *, final: bool) -> None:
        self.said.append((round((self._loop.time() - BEGAN_S) * RATE_HZ), text, final))
        if final:
            self.log.note("stopped")

    def play(self, at: int) -> Samples:
        return self._last

    def process(self, mic: Samples) -> None:
        self._last = mic


def test_a_recogniser_gives_interim_results_and_a_final_one() -> None:
    words = Words("hold on please", 16000, 16000 + 4800)
    interim = int(INTERIM_S * RATE_HZ)
    assert results(words) == [
        (17600 + interim, "hold", False),
        (19200 + interim, "hold on", False),
        (20800 + interim, "hold on please", False),
        (20800 + FINAL_S * RATE_HZ, "hold on please", True),
    ]
    assert results(Words("", 0, 100)) == []


def test_requests_are_answered_until_the_pipe_ends() -> None:
    requests, answers = io.BytesIO(), io.BytesIO()
    pipe.write_words(requests, Words("wait", 0, 800))
    blocks = [np.full(BLOCK_FRAMES, n, np.int16) for n in range(1, 101)]
    for block in blocks:
        pipe.write_block(requests, block)
    requests.seek(0)
    loop = SimulatedLoop()
    peer = EchoingPeer(loop)
    serve(peer, loop, requests, answers)
    loop.close()

    answers.seek(0)
    given = [pipe.read_answer(answers) for _ in range(101)]
    with pytest.raises(PipeClosed):
        pipe.read_answer(answers)
    assert [int(answer.samples[0]) for answer in given] == list(range(101))
    assert all(answer.audible for answer in given)
    final = 800 + int(FINAL_S * RATE_HZ)
    assert peer.said == [(800 + 3200, "wait", False), (final, "wait", True)]
    assert [event for answer in given for event in answer.events] == [Event(final, "stopped")]
    assert peer.checked == 100


def test_what_ends_a_program_ends_its_requests() -> None:
    class EndingPeer(EchoingPeer):
        def check(self) -> None:
            raise RuntimeError("it has ended")

    requests = io.BytesIO()
    pipe.write_block(requests, SILENCE)
    requests.seek(0)
    loop = SimulatedLoop()
    with pytest.raises(RuntimeError, match="it has ended"):
        serve(EndingPeer(loop), loop, requests, io.BytesIO())
    loop.close()
