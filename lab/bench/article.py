"""The barge-in recipe of the article that Interlude started from, for comparison with ours.

"Why Your Voice Agent Won't Stop Talking", DEV Community, 2026: `python -m lab.bench.article
CARD ANSWER` listens and talks on an ALSA card until its standard input ends. ANSWER is raw int16
at 16 kHz. As in the article: 512-sample chunks through Silero's VADIterator (0.5, 500 ms), one
Event, a worker that polls it before each blocking write of 50 ms and flushes its queue. Replaced:
PyAudio by our ALSA module, 24 kHz by 16, the model by a fixed answer.
"""

from __future__ import annotations

import queue
import select
import sys
import threading
from pathlib import Path
from typing import Literal

import numpy as np

from appliance.audio.alsa import AlsaStream, open_stream
from appliance.hear.onset.vad import HOP_FRAMES, WINDOW_FRAMES, VoiceActivityDetector
from appliance.pcm import RATE_HZ, Samples

CHUNK_FRAMES = RATE_HZ * 50 // 1000  # "Feed 50ms TTS chunks into playback_queue"
# The card's buffer: PortAudio asks ALSA for 4 periods. 40 ms in all is less than the default of a
# PyAudio stream (1024 frames a period), so this choice does not slow the recipe down.
OUT_PERIOD_MS, OUT_PERIODS = 10, 4
IN_PERIOD_MS = 32  # frames_per_buffer=512
AGAIN_CHUNKS = 31  # after 1 s without output the answer is repeated: the bench needs it talking


class VADIterator:
    """Silero's VADIterator (silero-vad, utils_vad.py) at 16 kHz: probabilities → start and end."""

    def __init__(self, threshold: float = 0.5, min_silence_ms: int = 500) -> None:
        self._threshold = threshold
        self._silence_frames = RATE_HZ * min_silence_ms // 1000
        self._triggered = False
        self._quiet_from = 0
        self._now = 0

    def process(self, probability: float) -> Literal["start", "end"] | None:
        """Process the network's probability of speech in the next 512 samples."""
        self._now += WINDOW_FRAMES
        if probability >= self._threshold:
            self._quiet_from = 0
            if not self._triggered:
                self._triggered = True
                return "start"
        elif probability < self._threshold - 0.15 and self._triggered:
            self._quiet_from = self._quiet_from or self._now
            if self._now - self._quiet_from >= self._silence_frames:
                self._quiet_from = 0
                self._triggered = False
                return "end"
        return None


class Gatekeeper:
    """Detects speech in the microphone's sound; `audio_queue` connects the capture thread to it."""

    def __init__(self) -> None:
        self.audio_queue: queue.Queue[Samples] = queue.Queue()
        self.interrupt_event = threading.Event()
        self.is_speaking = False
        self._speech = VoiceActivityDetector()
        self._iterator = VADIterator()

    def capture(self, stream: AlsaStream) -> None:
        """Body of the capture thread, which PortAudio would run."""
        poller = select.poll()
        stream.register(poller)
        stream.start()
        while True:
            if not stream.is_ready(poller.poll()):
                continue
            while (ready := stream.avail()) >= WINDOW_FRAMES:
                samples = stream.read()
                if samples is None:
                    break
                self.audio_queue.put(samples)
            if ready < 0:
                stream.start()

    def process(self, chunk: Samples) -> Literal["start", "end"] | None:
        """Process 512 samples. `VoiceActivityDetector` has two interleaved networks; the one whose
        windows are these chunks returns its probability with the second hop."""
        self._speech.process(chunk[:HOP_FRAMES])
        probability = self._speech.process(chunk[HOP_FRAMES:])
        return None if probability is None else self._iterator.process(probability)


class OutputController:
    """Plays a queue of chunks; its worker polls the event before each chunk and flushes."""

    def __init__(self) -> None:
        self.playback_queue: queue.Queue[Samples] = queue.Queue()

    def tts_playback_worker(self, stream: AlsaStream, interrupt_event: threading.Event) -> None:
        poller = select.poll()
        stream.register(poller)
        while True:
            if interrupt_event.is_set():
                self.flush()
                interrupt_event.clear()
                continue
            try:
                audio_chunk = self.playback_queue.get(timeout=0.05)
            except queue.Empty:
                stream.avail()  # so that the card logs an underrun
                continue
            if interrupt_event.is_set():
                continue
            write_blocking(stream, poller, audio_chunk)

    def flush(self) -> None:
        while not self.playback_queue.empty():
            try:
                self.playback_queue.get_nowait()
            except queue.Empty:
                break

    def play(self, answer: Samples) -> None:
        for at in range(0, len(answer), CHUNK_FRAMES):
            self.playback_queue.put(answer[at : at + CHUNK_FRAMES])


def write_blocking(stream: AlsaStream, poller: select.poll, chunk: Samples) -> None:
    """Write a chunk; returns when the card's buffer has all of it, as Pa_WriteStream does."""
    while len(chunk):
        taken = stream.write(chunk)
        chunk = chunk[max(0, taken) :]  # after a dropout (−1) the same chunk is written again
        if len(chunk) and taken >= 0:
            stream.is_ready(poller.poll(100))


def converse(gatekeeper: Gatekeeper, output: OutputController, answer: Samples) -> None:
    """The article's main loop; in place of a call of the model the answer is queued at once."""
    nothing_to_say = 0
    output.play(answer)
    while True:
        heard = gatekeeper.process(gatekeeper.audio_queue.get())
        if heard == "start":
            gatekeeper.interrupt_event.set()
            gatekeeper.is_speaking = True
        elif heard == "end":
            gatekeeper.is_speaking = False
            output.play(answer)
        idle = output.playback_queue.empty() and not gatekeeper.is_speaking
        nothing_to_say = nothing_to_say + 1 if idle else 0
        if nothing_to_say > AGAIN_CHUNKS:
            output.play(answer)


def main(card: str, answer_file: Path) -> None:
    answer = np.fromfile(answer_file, np.int16)
    mic = open_stream(card, "capture", period_ms=IN_PERIOD_MS, periods=OUT_PERIODS)
    speaker = open_stream(card, "playback", period_ms=OUT_PERIOD_MS, periods=OUT_PERIODS)
    gatekeeper, output = Gatekeeper(), OutputController()
    event = gatekeeper.interrupt_event
    for target, arguments in (
        (gatekeeper.capture, (mic,)),
        (output.tts_playback_worker, (speaker, event)),
        (converse, (gatekeeper, output, answer)),
    ):
        threading.Thread(target=target, args=arguments, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
