"""The program `hibari`: says English sentences in the protocol of docs/voices.md.

    program.py SPEED            1.0: the voice's own pace
    program.py --check          tests whether it can speak here; the exit code is the result

The speaker starts it in the sandbox of all voices' programs (voice/confine.py). It is started by
its path, because the sandbox passes no environment: the package is imported relative to this file.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import numpy as np

from appliance.errors import InterludeError, UnsayableText
from appliance.voice.hibari.synthesiser import (
    LOUDNESS_DBFS,
    RATE_HZ,
    Cancellation,
    Synthesiser,
)
from appliance.voice.protocol import PROTOCOL


class Order:
    """One ordered sentence."""

    def __init__(self, number: int, text: str) -> None:
        self.number, self.text = number, text
        self.cancellation = Cancellation()


class Program:
    """Two threads: one reads orders, so that a stop has an effect at once; one synthesises."""

    def __init__(self, synthesiser: Synthesiser, answers: int) -> None:
        """`answers`: the file descriptor to which answers are written."""
        self._synthesiser = synthesiser
        self._answers = answers
        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._open: dict[int, Order] = {}
        self._lock = threading.Lock()

    def run(self) -> None:
        """Serve; does not return. The process exits at the end of its stdin."""
        threading.Thread(target=self._read, daemon=True).start()
        self._write_answer({"voice": PROTOCOL, "rate_hz": RATE_HZ, "dbfs": LOUDNESS_DBFS})
        while True:
            order = self._orders.get()
            try:
                self._say(order)
            except UnsayableText as error:
                self._end(order, {"failed": order.number, "why": str(error), "unsayable": True})
            except Exception as error:  # noqa: BLE001  # the network's library raises anything
                why = str(error).strip().split("\n")[0][:200] or type(error).__name__
                stopped = order.cancellation.cancelled
                self._end(order, {"done": order.number} if stopped else
                          {"failed": order.number, "why": why})  # fmt: skip
            else:
                self._end(order, {"done": order.number})

    def _read(self) -> None:
        for line in sys.stdin:
            request = json.loads(line)
            if "say" in request:
                order = Order(request["say"], request["text"])
                with self._lock:
                    self._open[order.number] = order
                self._orders.put(order)
            elif "stop" in request:
                with self._lock:
                    stopped = self._open.get(request["stop"])
                if stopped is not None:
                    stopped.cancellation.cancel()
        os._exit(0)  # the speaker has closed the pipe

    def _say(self, order: Order) -> None:
        for stretch in self._synthesiser.synthesise(order.text, order.cancellation):
            sound = np.rint(np.clip(stretch.sound, -1.0, 1.0) * 32767).astype("<i2")
            self._write_answer({"sound": order.number, "frames": len(sound), "from": stretch.begin,
                        "to": stretch.end, "words": stretch.words}, sound.tobytes())  # fmt: skip

    def _end(self, order: Order, answer: dict[str, object]) -> None:
        with self._lock:
            self._open.pop(order.number, None)
        self._write_answer(answer)

    def _write_answer(self, answer: dict[str, object], pcm: bytes = b"") -> None:
        rest = memoryview(json.dumps(answer).encode() + b"\n" + pcm)
        while rest:
            rest = rest[os.write(self._answers, rest) :]


def main(words: list[str]) -> int:
    """`words`: the arguments. Returns the exit code of the check, or of a failed start."""
    answers = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print to stderr, not to the pipe
    try:
        if words == ["--check"]:
            spoken = Synthesiser().synthesise("Yes.", Cancellation())
            return 0 if any(np.abs(each.sound).max() > 0.01 for each in spoken) else 70
        program = Program(Synthesiser(float(words[0])), answers)
    except (InterludeError, ImportError, OSError) as error:
        print(f"hibari cannot be loaded: {error}", file=sys.stderr)  # noqa: T201  # to the log
        return 70  # EX_SOFTWARE
    program.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
