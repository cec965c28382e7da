"""pipecat in the simulated room: its own pipeline, transport, Silero analyzer and turn strategies.

In: blocks of the microphone, words of a recogniser. Out: blocks of the loudspeaker, a log. Replaced
are PyAudio, the recogniser, the language model and the voice: the answer is endless and begins
0.6 s after the owner's turn.
"""

from __future__ import annotations

import asyncio
import sys
import types
from typing import Any

import numpy as np

from appliance.sound_format import BLOCK_FRAMES, RATE_HZ
from lab.peers.answer_log import THINKS_S, AnswerLog
from lab.peers.echo_front import EchoFront
from lab.peers.pipe import Samples, Start
from lab.peers.pipecat_card import Card
from lab.peers.simulated_time import BEGAN_S, SimulatedLoop

# The transport imports PyAudio by name, and takes these two constants of it.
sys.modules["pyaudio"] = types.ModuleType("pyaudio")
vars(sys.modules["pyaudio"]).update(PyAudio=Card, paContinue=0)

from loguru import logger  # noqa: E402
from pipecat.audio.vad.silero import SileroVADAnalyzer  # noqa: E402
from pipecat.audio.vad.vad_analyzer import VADParams  # noqa: E402
from pipecat.frames.frames import (  # noqa: E402
    InterimTranscriptionFrame,
    InterruptionFrame,
    LLMContextFrame,
    LLMFullResponseStartFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
)
from pipecat.pipeline.pipeline import Pipeline  # noqa: E402
from pipecat.pipeline.worker import PipelineParams, PipelineWorker  # noqa: E402
from pipecat.processors.aggregators.llm_context import LLMContext  # noqa: E402
from pipecat.processors.aggregators.llm_response_universal import (  # noqa: E402
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor  # noqa: E402
from pipecat.transports.local.audio import (  # noqa: E402
    LocalAudioTransport,
    LocalAudioTransportParams,
)
from pipecat.turns.user_start import MinWordsUserTurnStartStrategy  # noqa: E402
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy  # noqa: E402
from pipecat.turns.user_turn_strategies import UserTurnStrategies  # noqa: E402
from pipecat.workers.runner import WorkerRunner  # noqa: E402

PIECE_FRAMES = RATE_HZ // 10  # of the answer's sound, as a voice delivers it
AHEAD_S = 1.0  # by which the voice is ahead of playback
VAD_OPTIONS = ("start_secs", "min_volume")


class Recogniser(FrameProcessor):  # type: ignore[misc]  # pipecat has no types here
    """Stands in the recogniser's place; `say` pushes what it would have recognised."""

    async def process_frame(self, frame: Any, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)

    async def say(self, text: str, *, final: bool) -> None:
        kind = TranscriptionFrame if final else InterimTranscriptionFrame
        await self.push_frame(kind(text, "owner", "2026-01-01T00:00:00"))


class Answerer(FrameProcessor):  # type: ignore[misc]  # pipecat has no types here
    """Stands in the place of the model and the voice. An interruption ends its answer."""

    def __init__(self, log: AnswerLog) -> None:
        super().__init__()
        self._log = log
        self._task: Any = None

    @property
    def answering(self) -> bool:
        return self._task is not None

    async def process_frame(self, frame: Any, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            if self._log.audible:
                self._log.note("stopped")
                self._log.note("dropped")
            await self._end()
        if isinstance(frame, LLMContextFrame):
            if self._log.now >= self._log.asked:
                await self.begin(THINKS_S)
            return
        await self.push_frame(frame, direction)

    async def begin(self, wait_s: float) -> None:
        """Answer after `wait_s`, from the beginning."""
        await self._end()
        self._task = self.create_task(self._answer(wait_s))

    async def _end(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            await self.cancel_task(task)

    async def _answer(self, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        await self.push_frame(LLMFullResponseStartFrame())
        await self.push_frame(TTSStartedFrame())
        clock = asyncio.get_running_loop().time
        sounds_until_s = clock()
        while True:
            piece = self._log.next_samples(PIECE_FRAMES)
            await self.push_frame(TTSAudioRawFrame(piece.tobytes(), RATE_HZ, 1))
            sounds_until_s += PIECE_FRAMES / RATE_HZ
            await asyncio.sleep(max(0.0, sounds_until_s - clock() - AHEAD_S))


class PipecatPeer:
    """A pipeline [transport in, recogniser, user aggregator, answerer, transport out, assistant
    aggregator] in simulated time.

    options: `start_secs` and `min_volume` of `VADParams`; `min_words` of the strategy that takes
    the place of pipecat's two default ones. The end of a turn is by silence: smart turn, the
    default, takes a lone word for an unfinished turn and then waits for 5 s.
    """

    def __init__(self, start: Start, talk: Samples, loop: SimulatedLoop) -> None:
        logger.remove()
        self.log = AnswerLog(talk, start.asked)
        self._front = EchoFront()
        self._loop = loop
        self._block: Samples = np.zeros(BLOCK_FRAMES, np.int16)
        self._options = start.options
        self._card = card = Card(loop)
        vars(sys.modules["pyaudio"])["PyAudio"] = lambda: card
        self._recogniser: Any = None  # these are made inside the loop
        self._answerer: Any = None
        self._session = loop.start(self._run())
        loop.run_to(BEGAN_S)
        self.check()

    @property
    def audible(self) -> bool:
        return self.log.audible and self._answerer.answering

    def check(self) -> None:
        """Raises what has ended the session."""
        if self._session.done():
            self._session.result()
            raise RuntimeError("pipecat's session has ended.")

    def say(self, text: str, *, final: bool) -> None:
        """The recogniser's next result, from now on."""
        self._loop.start(self._recogniser.say(text, final=final))

    def play(self, at: int) -> Samples:
        if self.log.due(at):
            self._loop.start(self._answerer.begin(0.0))
            self._loop.run_to(self._loop.time())
        self._block, written = self._card.output.read(at)
        self.log.played(at, audible=written)
        return self._block

    def process(self, mic: Samples) -> None:
        clean = self._front.process(mic, self._block)
        if clean is not None and self._card.mic is not None:
            self._card.mic.push(clean)

    async def _run(self) -> None:
        transport = LocalAudioTransport(
            LocalAudioTransportParams(audio_in_enabled=True, audio_out_enabled=True)
        )
        self._recogniser, self._answerer = Recogniser(), Answerer(self.log)
        pair = LLMContextAggregatorPair(LLMContext(), user_params=self._user_params())
        pipeline = Pipeline([
            transport.input(), self._recogniser, pair.user(), self._answerer, transport.output(),
            pair.assistant(),
        ])  # fmt: skip
        worker = PipelineWorker(
            pipeline,
            params=PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=RATE_HZ),
            idle_timeout_secs=None, enable_turn_tracking=False, enable_rtvi=False,
        )  # fmt: skip
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        await runner.run()

    def _user_params(self) -> LLMUserAggregatorParams:
        options = self._options
        vad = {name: options[name] for name in VAD_OPTIONS if name in options}
        words = int(options.get("min_words", 0))
        return LLMUserAggregatorParams(
            vad_analyzer=SileroVADAnalyzer(params=VADParams(**vad)),
            user_turn_strategies=UserTurnStrategies(
                start=[MinWordsUserTurnStartStrategy(min_words=words)] if words else None,
                stop=[SpeechTimeoutUserTurnStopStrategy()],
            ),
        )
