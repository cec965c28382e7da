"""Judges a moment of two channels by hotato's own scorer: whether and when channel 1 gave way.

In: int16 samples of the person and of the loudspeaker, the person's onset, what is expected. Out: a
`Judgement`. hotato (PyPI, MIT) reads a file and measures levels; it knows nothing of this box, and
all its settings are its defaults.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import soundfile

from appliance.errors import StorageError
from appliance.pcm import RATE_HZ, Samples

MISSING = "hotato, which judges this, is not installed: run `make setup`, or `make test`."


@dataclass(frozen=True)
class Judgement:
    """What hotato says of one moment.

    yielded      channel 1 fell silent for the person
    after_s      s from the person's onset until then; None: it did not
    talk_over_s  s in which both were heard, until then or for as long as hotato looks
    right        as expected, and within the moment's limits
    why          hotato's sentences if it is not right, or why it cannot judge
    """

    yielded: bool
    after_s: float | None
    talk_over_s: float
    right: bool
    why: str = ""


def is_installed() -> bool:
    return importlib.util.find_spec("hotato") is not None


def judge(file: Path, tracks: Samples, onset_s: float, expected: Mapping[str, Any]) -> Judgement:
    """Write `tracks`, int16 (frames, 2) at 16 kHz, to `file` as WAV, and let hotato judge it.

    `expected`: `yield`, and `max_time_to_yield_sec` and `max_talk_over_sec` in s, which may be None
    or missing. Raises StorageError if the file cannot be written; call it if `is_installed`.
    """
    from hotato import run_single

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(file, tracks, RATE_HZ, "PCM_16")
    except OSError as error:
        raise StorageError(f"{file}: cannot be written ({error.strerror or error}).") from error
    [event] = run_single(
        stereo=str(file), caller_channel=0, agent_channel=1, onset_sec=onset_s,
        expect="yield" if expected["yield"] else "hold",
        max_time_to_yield_sec=expected.get("max_time_to_yield_sec"),
        max_talk_over_sec=expected.get("max_talk_over_sec"),
    )["events"]  # fmt: skip
    found = event["verdict"]
    return Judgement(found["did_yield"], found["seconds_to_yield"], found["talk_over_sec"],
                     found["passed"], " ".join(found["reasons"]))  # fmt: skip


def thresholds() -> str:
    """hotato's settings, as it has them; call it if `is_installed`."""
    from hotato import __version__
    from hotato._engine import ScoreConfig

    its = ScoreConfig()
    sound = its.agent_vad
    return (
        f"hotato {__version__}, its defaults: channel 1 gives way if it is quiet for "
        f"{its.yield_hangover_sec + sound.hangover_sec:.2f} s, from at most {its.max_search_sec:g} "
        f"s after the onset, with channel 0 heard within {its.caller_proximity_sec:g} s of it. "
        f"Quiet is less than {sound.rel_db:g} dB over the quietest tenth of the channel, at most "
        f"{sound.dyn_margin_db:g} dB below its loudest {its.frame_ms:g} ms, or below "
        f"{sound.abs_gate_db:g} dBFS."
    )
