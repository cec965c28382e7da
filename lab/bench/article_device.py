"""The article's recipe in the simulated room: `article.py` with computed playback."""

from __future__ import annotations

import numpy as np

from appliance.hear.onset.vad import WINDOW_FRAMES
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples
from lab.bench.article import AGAIN_CHUNKS, CHUNK_FRAMES, OUT_PERIOD_MS, OUT_PERIODS, Gatekeeper
from lab.bench.simulated_room import TimedEvent

CARD_FRAMES = OUT_PERIOD_MS * OUT_PERIODS * RATE_HZ // 1000  # the card's buffer


class ArticleDevice:
    """The recipe as a simulated device, without an echo canceller. Its worker polls the event
    before each blocking write of 50 ms, so a chunk in progress and the card's buffer are played to
    the end after the event was set."""

    def __init__(self, answer: Samples) -> None:
        """Plays `answer`, and again from its start after each interruption."""
        self._answer = answer
        self._gatekeeper = Gatekeeper()
        self._chunk = np.zeros(WINDOW_FRAMES, np.int16)
        self._filled = 0
        self._event_set = False
        self._position = 0  # of the next chunk in the answer; its end stands for an empty queue
        self._written: list[Samples] = []
        self._written_until = 0
        self._idle_chunks = 0
        self._speech = False
        self.stops: list[int] = []
        self.yields: list[int] = []
        self.events: list[TimedEvent] = []

    @property
    def talking(self) -> bool:
        return self._position < len(self._answer)

    def play(self, at: int) -> Samples:
        self._run_worker(at)
        if not self._written or self._written_until - sum(map(len, self._written)) > at:
            return np.zeros(BLOCK_FRAMES, np.int16)
        block = self._written[0][:BLOCK_FRAMES]
        self._written[0] = self._written[0][BLOCK_FRAMES:]
        if not len(self._written[0]):
            self._written.pop(0)
        return np.pad(block, (0, BLOCK_FRAMES - len(block)))

    def process(self, mic: Samples, at: int) -> None:
        missing = WINDOW_FRAMES - self._filled
        head = mic[:missing]
        self._chunk[self._filled : self._filled + len(head)] = head
        self._filled += len(head)
        if self._filled == WINDOW_FRAMES:
            self._converse(self._chunk)
            rest = mic[missing:]
            self._chunk[: len(rest)] = rest
            self._filled = len(rest)

    def _converse(self, chunk: Samples) -> None:
        """The article's main loop."""
        heard = self._gatekeeper.process(chunk)
        if heard == "start":
            self._event_set = True
            self._speech = True
        elif heard == "end":
            self._speech = False
            self._position = 0
        idle = not self.talking and not self._speech
        self._idle_chunks = self._idle_chunks + 1 if idle else 0
        if self._idle_chunks > AGAIN_CHUNKS:
            self._position = 0

    def _run_worker(self, at: int) -> None:
        """Run the playback worker, which is free once the card's buffer has its last chunk."""
        while at >= self._written_until - CARD_FRAMES:
            if self._event_set:
                self._event_set = False
                if self.talking:
                    self.yields.append(at)
                    self.stops.append(max(at, self._written_until))
                self._position = len(self._answer)
            if not self.talking:
                return
            chunk = self._answer[self._position : self._position + CHUNK_FRAMES]
            self._position += len(chunk)
            self._written_until = max(at, self._written_until) + len(chunk)
            self._written.append(chunk)
