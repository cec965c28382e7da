"""livekit-agents in the simulated room: its own session, Silero, interruption logic and output.

In: blocks of the microphone, words of a recogniser. Out: blocks of the loudspeaker, a log. Replaced
are the recogniser, the language model and the voice: the answer is endless and begins 0.6 s after
the owner's turn.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import numpy as np
from livekit.agents import AgentSession, inference

from appliance.sound_format import BLOCK_FRAMES
from lab.peers.answer_log import AnswerLog
from lab.peers.echo_front import EchoFront
from lab.peers.livekit_parts import LoggedOutput, Microphone, Model, Recogniser, Speaker
from lab.peers.pipe import Samples, Start
from lab.peers.simulated_time import BEGAN_S, SimulatedLoop

LAG_BLOCKS = 2  # from the program to the loudspeaker, as of the simulated box
CLEARED_S = 0.05  # in which the rest of an old answer is dropped before the owner asks again


class LivekitPeer:
    """A session with turn detection and interruptions by VAD. `options`: of its interruptions:
    `min_words`, `min_duration`, `false_interruption_timeout`. Adaptive interruption, which runs on
    livekit's servers, is left out."""

    def __init__(self, start: Start, talk: Samples, loop: SimulatedLoop) -> None:
        logging.disable(logging.ERROR)
        self.log = AnswerLog(talk, start.asked)
        self._front = EchoFront()
        self._loop = loop
        silence: Samples = np.zeros(BLOCK_FRAMES, np.int16)
        self._delayed = [(silence, False)] * LAG_BLOCKS
        self._block = silence
        self._options = {
            name: int(value) if name == "min_words" else value
            for name, value in start.options.items()
        }
        self._session: Any = None  # these are made inside the loop
        self._output: Any = None
        self._recogniser: Any = None
        self._microphone: Any = None
        self._started = loop.start(self._start())
        loop.run_to(BEGAN_S)
        self.check()

    @property
    def audible(self) -> bool:
        return self.log.audible and not self._output.holds_answer

    def check(self) -> None:
        """Raises what has kept the session from starting."""
        if self._started.done():
            self._started.result()

    def say(self, text: str, *, final: bool) -> None:
        """The recogniser's next result, from now on."""
        self._recogniser.say(text, final=final)

    def play(self, at: int) -> Samples:
        if self.log.due(at):
            self._loop.start(self._ask())
            self._loop.run_to(self._loop.time())
        self._delayed.append(self._output.read())
        self._block, audible = self._delayed.pop(0)
        self.log.played(at, audible=audible)
        return self._block

    def process(self, mic: Samples) -> None:
        clean = self._front.process(mic, self._block)
        if clean is not None and self._started.done():
            self._microphone.push(clean)

    async def _start(self) -> None:
        self._recogniser, self._microphone = Recogniser(), Microphone()
        interruption = {"mode": "vad", **self._options}
        self._session = AgentSession(
            stt=self._recogniser, vad=inference.VAD(), llm=Model(), user_away_timeout=None,
            turn_handling={"turn_detection": "vad", "interruption": interruption},
        )  # fmt: skip
        self._output = LoggedOutput(asyncio.get_running_loop(), self.log, self._answering)
        self._session.input.audio = self._microphone
        self._session.output.audio = self._output
        await self._session.start(Speaker(self.log, self._output))

    async def _ask(self) -> None:
        """The owner asks (again): what is left of an old answer goes, and a new one begins."""
        self._output.quiet = True
        self._session.interrupt(force=True)
        await asyncio.sleep(CLEARED_S)
        self._output.resume()
        self._session.generate_reply(user_input="question")
        self._output.quiet = False

    def _answering(self) -> bool:
        speech = self._session.current_speech
        return speech is not None and not speech.interrupted and not speech.done()
