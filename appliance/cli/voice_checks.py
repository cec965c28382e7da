"""Checks of the voices for `interlude check`: those that speak text, and the voice `head`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from appliance.errors import InterludeError
from appliance.runtime.diagnostics import Finding, ok, warning
from appliance.runtime.enabled import HEAD
from appliance.settings import Settings
from appliance.think.state_tap import lacking
from appliance.voice.checks import voice_findings
from appliance.voice.head.speech_head import SpeechHead
from appliance.voice.head_weights import REMEDY, head_folder

TOKENS = 40  # number of random states, as many as a long sentence has


def findings(settings: Settings) -> list[Finding]:
    """Findings on the voice of the settings and on the voices that replace it if it fails."""
    wanted = settings.speaking.voice == HEAD
    return [*([head_finding(settings)] if wanted else []), *voice_findings(settings)]


def head_finding(settings: Settings, lacks: Callable[[], str] = lacking) -> Finding:
    """Check whether the voice `head` works with this machine and its model, and how fast it is.

    `lacks`: returns why llama.cpp provides no hidden states; "" if it does.
    """
    if problem := lacks():
        return warning("voice", f"The voice head cannot speak. {problem}", REMEDY)
    try:
        load = real_time_factor(head_folder(settings))
    except InterludeError as error:
        return warning("voice", f"The voice head cannot speak. {error.problem}", error.remedy)
    if load >= 1.0:
        sentence = f"The voice head is too slow here: {load:.1f} s for each second of sound."
        return warning("voice", sentence, REMEDY)
    return ok("voice", f"The voice head fits the model: {load:.2f} s for each second of sound.")


def real_time_factor(folder: Path) -> float:
    """Seconds of work on one core for each second of sound, measured with random states.

    Raises ModelError if the head cannot be loaded.
    """
    head = SpeechHead(folder)
    states = np.random.default_rng(1).standard_normal((TOKENS, 1 + head.layers, head.width))
    rows = states.astype(np.float32)
    stream, frames = head.begin(), 0
    began_s = time.monotonic()
    stream.push(rows[:, 1:], rows[:, 0])
    stream.end()
    while stream.frame() is not None:
        frames += 1
    took_s = time.monotonic() - began_s
    return took_s * head.rate_hz / (head.frame_samples * max(1, frames))
