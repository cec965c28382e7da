"""The program of the voice `head`: hidden states from the ring in, sound out. [process]

    head_program.py FOLDER RING     FOLDER: the weights; RING: the ring `states`, as JSON

It speaks the protocol of a voice's program (docs/voices.md), but an order names a sentence's
tokens: {"say": 1, "first": 7, "end": 12, "words": [[0, 3, 0], …]}. It makes frames as soon as their
states have arrived, and blocks only in poll(2). It is started by its path, because the sandbox
passes no environment: the package is imported relative to this file.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import msgspec

from appliance.errors import InterludeError
from appliance.runtime.ipc.ring import RingReader
from appliance.runtime.ipc.ring_handles import from_wire
from appliance.runtime.ipc.token_states import token_slot
from appliance.runtime.process_table import RINGS, STATES
from appliance.voice.head.speech_head import SpeechHead
from appliance.voice.head_runs import Head, HeadRuns
from appliance.voice.head_sentences import HeadOrder, HeadSentences, HeadStop, Reply
from appliance.voice.protocol import PROTOCOL

READER = "speaker"  # name of the ring's reader; this program inherits its descriptors
LOOK_MS = 500  # between two checks of a sentence whose states do not come
UNUSABLE = 70  # EX_SOFTWARE


class LoadedHead(Head, Protocol):
    """A head that was loaded from files. `dbfs`: mean loudness of its speech."""

    @property
    def rate_hz(self) -> int: ...
    @property
    def dbfs(self) -> float: ...


class Output:
    """The pipe to the speaker; what it has no room for is buffered."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        os.set_blocking(fd, False)
        self._buffer = bytearray()

    @property
    def pending(self) -> bool:
        return bool(self._buffer)

    def add(self, replies: Iterable[Reply]) -> None:
        for reply, samples in replies:
            self._buffer += json.dumps(reply).encode() + b"\n"
            if samples is not None:
                self._buffer += samples.astype("<i2").tobytes()

    def flush(self) -> None:
        try:
            while self._buffer:
                del self._buffer[: os.write(self.fd, self._buffer[: 1 << 16])]
        except BlockingIOError:
            return


class HeadProgram:
    """Orders and states in, replies out."""

    def __init__(self, head: LoadedHead, ring: RingReader, output: Output) -> None:
        self._runs = HeadRuns(head)
        self._sentences = HeadSentences(self._runs, head.dbfs)
        self._ring, self._output = ring, output
        self._lost = 0
        self._line = b""

    def run(self) -> None:
        """Serve until the speaker closes its end of the pipe."""
        os.set_blocking(0, False)
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self._ring.fileno(), select.POLLIN)
        busy = False
        while True:
            poll.register(self._output.fd, select.POLLOUT if self._output.pending else 0)
            poll.poll(0 if busy else LOOK_MS)
            if not self._read_orders():
                return
            self._read_states()
            busy = self._runs.step()  # one frame, so that a stop is read before the next
            self._output.add(self._sentences.replies(time.monotonic()))
            self._output.flush()

    def _read_states(self) -> None:
        for slot in self._ring.read_all():
            if self._ring.lost != self._lost:
                self._lost = self._ring.lost
                self._runs.lose()
            self._runs.add(token_slot(slot))

    def _read_orders(self) -> bool:
        """Handle the orders in stdin. Returns False at its end."""
        try:
            data = os.read(0, 1 << 16)
        except BlockingIOError:
            return True
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            order = msgspec.json.decode(line)
            if "stop" in order:
                number = msgspec.convert(order, HeadStop).stop
                self._output.add(self._sentences.stop(number))
            else:
                self._sentences.say(msgspec.convert(order, HeadOrder), time.monotonic())
        return bool(data)


def open_ring(wire: Mapping[str, Any]) -> RingReader:
    (spec,) = (spec for spec in RINGS if spec.name == STATES)
    spec = replace(spec, readers=tuple(wire["bell_fds"]))
    return RingReader(from_wire(spec, dict(wire)), READER)


def main(words: list[str], load: Callable[[Path], LoadedHead] = SpeechHead) -> int:
    answers = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print to stderr, not to the pipe
    folder, wire = words
    try:
        head = load(Path(folder))
        ring = open_ring(json.loads(wire))
    except (InterludeError, ImportError, OSError) as error:
        print(f"the head cannot be loaded: {error}", file=sys.stderr)  # noqa: T201  # to the log
        return UNUSABLE
    output = Output(answers)
    hello: dict[str, object] = {"voice": PROTOCOL, "rate_hz": head.rate_hz, "dbfs": head.dbfs}
    output.add([(hello, None)])
    output.flush()
    HeadProgram(head, ring, output).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
