"""Listens to what a voice has made, and says whether it is what it was to say. [process]

    judge_program.py

A line of JSON in, {"judge": 1, "words": ["the", "sea"], "samples": 32000}, with its samples behind
it, signed, of 16 bits, little-endian, at the box's rate; a line out, {"judged": 1, "fit": -3.1}, or
`fit` null where a word is in no dictionary here. First {"ready": 1}. It runs as a file, since
nothing of the environment comes through: its packages are found beside this one.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import BinaryIO

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from appliance.voice.speech_aligner import SpeechAligner

UNUSABLE = 70  # EX_SOFTWARE
NICE = 5  # more than the voice's own: it judges what is made already


def judge(aligner: SpeechAligner, source: BinaryIO, order: dict[str, object]) -> float | None:
    """The fit of one order, whose samples follow in `source`. Raises EOFError without them."""
    words, count = order["words"], order["samples"]
    assert isinstance(words, list)
    assert isinstance(count, int)
    data = source.read(2 * count)
    if len(data) < 2 * count:
        raise EOFError
    if not words or not all(map(aligner.knows, words)):
        return None
    return aligner.fit(words, np.frombuffer(data, "<i2").astype(np.int16))


def main() -> int:
    answers = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer
    os.nice(NICE)
    try:
        aligner = SpeechAligner()
    except (RuntimeError, ValueError, OSError) as error:
        print(f"the recogniser cannot be loaded: {error}", file=sys.stderr)  # noqa: T201  # to the log
        return UNUSABLE
    os.write(answers, b'{"ready": 1}\n')
    while line := sys.stdin.buffer.readline():
        order = json.loads(line)
        try:
            fit = judge(aligner, sys.stdin.buffer, order)
        except EOFError:
            return 0
        reply = {"judged": order["judge"], "fit": None if fit is None else round(fit, 2)}
        os.write(answers, json.dumps(reply).encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
