"""Check for `interlude check`: which rule ends a turn on this box, and why."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from appliance.errors import ModelError, ShownAs
from appliance.hear.turn.log_mel import WINDOW_FRAMES
from appliance.hear.turn.turn_network import MODEL, TurnNetwork
from appliance.runtime.diagnostics import Finding, ok, warning
from appliance.settings import TurnSettings

_QUESTIONS = 3  # the first one also reads the file


def turn_finding(settings: TurnSettings, model: Path = MODEL) -> Finding:
    """Run the network on silence, and compare the time it takes with the time it may take."""
    fixed = f"A turn ends after {settings.end_ms} ms of silence"
    if settings.judge == "none":
        shown = ShownAs.of("page-find-turns-fixed", ms=settings.end_ms)
        return ok("turns", f"{fixed}, as `hearing.turn.judge` wants.", shown)
    try:
        network = TurnNetwork(model)
    except ModelError as error:
        shown = ShownAs.of("page-find-turns-lost", ms=settings.end_ms)
        return warning("turns", f"{fixed}: {error.problem}", error.remedy, shown)
    silence = np.zeros(WINDOW_FRAMES, np.int16)
    took_ms = []
    for _ in range(_QUESTIONS):
        began_ns = time.perf_counter_ns()
        network.probability(silence)
        took_ms.append((time.perf_counter_ns() - began_ns) / 1e6)
    answered_ms = settings.ask_ms[0] + min(took_ms)
    if answered_ms > settings.end_ms:
        sentence = f"{fixed}: the network that judges it answers after {answered_ms:.0f} ms only."
        shown = ShownAs.of("page-find-turns-slow", ms=settings.end_ms)
        remedy = "Raise `hearing.turn.end_ms`, or leave it as it is."
        return warning("turns", sentence, remedy, shown)
    sentence = f"The end of a turn is judged by its sound; an answer takes {min(took_ms):.0f} ms."
    return ok("turns", sentence, ShownAs.of("page-find-turns", ms=round(min(took_ms))))
