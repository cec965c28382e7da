"""Aligns a voice's sound with the words that it was to say, and reports the fit. [process]

    judge_program.py

In: a line of JSON, {"judge": 1, "words": ["the", "sea"], "samples": 32000}, followed by the samples
as 16-bit signed little-endian integers at the box's rate. Out: a line, {"judged": 1, "fit": -3.1};
`fit` is null if a word is not in the dictionary. The first line out is {"ready": 1}. It is started
by its path, because the sandbox passes no environment: the package is imported relative to this
file.
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
NICE = 5  # added to that of a voice's program: synthesis comes before the check of its result


def judge(aligner: SpeechAligner, source: BinaryIO, order: dict[str, object]) -> float | None:
    """The fit of one order, whose samples follow in `source`. Raises EOFError if they do not."""
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
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print to stderr, not to the pipe
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
