"""The stand-ins of a livekit session: microphone, recogniser, model and voice, and a logged output.

In: frames of the microphone, words. Out: the answer's frames, a log of pauses and interruptions.
livekit's own console output plays, in blocks of 5 ms in place of 100 ms.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
from livekit import rtc
from livekit.agents import Agent, llm, stt
from livekit.agents.cli import _legacy
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS
from livekit.agents.voice import io

from appliance.sound_format import BLOCK_FRAMES, RATE_HZ
from lab.peers.answer_log import THINKS_S, AnswerLog
from lab.peers.pipe import Samples

PIECE_FRAMES = RATE_HZ // 20  # of the answer's sound, as a voice delivers it
AHEAD_S = 1.0  # by which the voice is ahead of playback
_LOOK_S = 0.05  # how often the voice looks whether it is still ahead
_legacy.SAMPLE_RATE = RATE_HZ  # of the console: the answer needs no resampler


class Microphone(io.AudioInput):  # type: ignore[misc]  # livekit has no types here
    """An input that yields the frames put into its queue."""

    def __init__(self) -> None:
        super().__init__(label="microphone")
        self._frames: asyncio.Queue[Any] = asyncio.Queue()

    def push(self, samples: Samples) -> None:
        self._frames.put_nowait(rtc.AudioFrame(samples.tobytes(), RATE_HZ, 1, len(samples)))

    async def __anext__(self) -> Any:
        return await self._frames.get()


class _Stream(stt.RecognizeStream):  # type: ignore[misc]  # livekit has no types here
    """Ignores the sound; its results come from `Recogniser.say`."""

    async def _run(self) -> None:
        async for _ in self._input_ch:
            pass

    def say(self, text: str, *, final: bool) -> None:
        kinds = stt.SpeechEventType
        kind = kinds.FINAL_TRANSCRIPT if final else kinds.INTERIM_TRANSCRIPT
        data = stt.SpeechData(language="en", text=text, confidence=1.0)
        self._event_ch.send_nowait(stt.SpeechEvent(type=kind, alternatives=[data]))


class Recogniser(stt.STT):  # type: ignore[misc]  # livekit has no types here
    """A streaming recogniser with interim results."""

    def __init__(self) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=True))
        self._stream: _Stream | None = None  # the newest

    async def _recognize_impl(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError  # only for recognisers that do not stream

    def stream(
        self, *, conn_options: Any = DEFAULT_API_CONNECT_OPTIONS, **_: Any
    ) -> stt.RecognizeStream:
        self._stream = _Stream(stt=self, conn_options=conn_options)
        return self._stream

    def say(self, text: str, *, final: bool) -> None:
        if self._stream is not None:
            self._stream.say(text, final=final)


class Model(llm.LLM):  # type: ignore[misc]  # livekit has no types here
    """A session without a model does not answer; `Speaker.llm_node` takes its place."""

    def chat(self, **_: Any) -> Any:
        raise NotImplementedError


class Speaker(Agent):  # type: ignore[misc]  # livekit has no types here
    """An agent whose answer begins after `THINKS_S` and never ends."""

    def __init__(self, log: AnswerLog, output: LoggedOutput) -> None:
        super().__init__(instructions="")
        self._log, self._output = log, output

    async def llm_node(self, *_: Any) -> AsyncIterator[str]:
        if self._log.now >= self._log.asked:
            await asyncio.sleep(THINKS_S)
            yield "answer"

    async def tts_node(self, text: AsyncIterator[str], *_: Any) -> AsyncIterator[Any]:
        async for _text in text:
            pass
        clock = asyncio.get_running_loop().time
        began_s, given_s = clock(), 0.0
        while True:
            # A paused output does not tell when it goes on.
            while (  # noqa: ASYNC110
                self._output.ahead_s > AHEAD_S or given_s > clock() - began_s + AHEAD_S
            ):
                await asyncio.sleep(_LOOK_S)
            samples = self._log.next_samples(PIECE_FRAMES)
            given_s += PIECE_FRAMES / RATE_HZ
            yield rtc.AudioFrame(samples.tobytes(), RATE_HZ, 1, len(samples))


class LoggedOutput(_legacy.ConsoleAudioOutput):  # type: ignore[misc]  # livekit has no types here
    """livekit's console output; notes what it does to an answer in progress.

    `quiet`: nothing is noted, as the owner asks again and so interrupts what is left.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, log: AnswerLog, answering: Callable[[], bool]
    ) -> None:
        super().__init__(loop)
        self.quiet = False
        self._log, self._answering = log, answering
        self._stopped = False  # a pause of an answer was noted, and not its end

    @property
    def ahead_s(self) -> float:
        return len(self._output_buf) / 2 / RATE_HZ

    @property
    def holds_answer(self) -> bool:
        return self._stopped

    def read(self) -> tuple[Samples, bool]:
        """The next block int16[80], and whether it is of the answer."""
        block = np.zeros((BLOCK_FRAMES, 1), np.int16)
        before = len(self._output_buf)
        self.read_into(block, BLOCK_FRAMES)
        return block[:, 0].copy(), len(self._output_buf) < before

    def pause(self) -> None:
        super().pause()
        if not self._stopped and self._in_progress():
            self._stopped = True
            self._log.note("stopped")

    def resume(self) -> None:
        super().resume()
        if self._stopped and self._in_progress():  # after a drop it only frees the output
            self._log.note("resumed")
        self._stopped = False

    def clear_buffer(self) -> None:
        if self._in_progress():
            if not self._stopped:
                self._log.note("stopped")
            self._log.note("dropped")
        self._stopped = False
        super().clear_buffer()

    def _in_progress(self) -> bool:
        return not self.quiet and (self._answering() or self._log.audible or self.ahead_s > 0)
