"""Voice programs that are short scripts, and a function that waits for them."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from pathlib import Path

from appliance.voice.engine.store import Engine, installed
from appliance.voice.program import ProgramVoice
from tests.voice import bundles

SAYS_IT = """
tell({"voice": 1, "rate_hz": 16000})
for order in orders():
    if "say" in order:
        sound(order["say"])
        tell({"done": order["say"]})
"""


def engine(folder: Path, script: Path | str = bundles.PIPER) -> Engine:
    bundles.plant(folder, script)
    (found,) = installed(folder)
    return found


def until(program: ProgramVoice, true: Callable[[], object], within_s: float = 20.0) -> None:
    limit = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < limit, program.problem
        select.select([program.fileno()], [], [], 0.02)
        program.poll()


def runs(program: ProgramVoice) -> bool:
    return program.pid is not None
