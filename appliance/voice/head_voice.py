"""The voice `head`: it speaks the language model's hidden states and never receives text.

Its program runs in the sandbox of all voices' programs. It reads the hidden states from the ring
`states`, whose descriptors it inherits, and an order names a sentence's tokens.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from appliance.errors import UnsayableText
from appliance.messages.speech import SentenceTokens
from appliance.runtime.enabled import HEAD
from appliance.runtime.ipc.ring_handles import RingHandles, to_wire
from appliance.runtime.supervision.process_limits import UNTOUCHED_MIB
from appliance.voice.program import ProgramVoice

# For three networks and their library; with the pocket model's head 170 MiB are resident. A head of
# full size (80 M parameters and Mimi) takes 80 MB in int8 and 160 MB more.
MEMORY_MIB = 600
PROGRAM = Path(__file__).with_name("head_program.py")


class HeadVoice(ProgramVoice):
    """`folder`: of the head's weights. `ring`: handles of the ring `states`."""

    def __init__(self, folder: Path, ring: RingHandles, program: Path = PROGRAM) -> None:
        wire = json.dumps(to_wire(ring))
        command = (sys.executable, str(program), str(folder), wire)
        super().__init__(HEAD, command, memory_mib=MEMORY_MIB + UNTOUCHED_MIB, fds=ring.fds)

    def _order(self, number: int, text: str, tokens: SentenceTokens | None) -> bytes:
        if tokens is None:
            problem = "The voice head says only what the model generated, and not this sentence."
            raise UnsayableText(problem, foreseen=True)
        places = [word.span() for word in re.finditer(r"\S+", text)]
        words = [(*place, after) for place, after in zip(places, tokens.words, strict=False)]
        order = {"say": number, "first": tokens.first, "end": tokens.end, "words": words}
        return json.dumps(order).encode() + b"\n"
