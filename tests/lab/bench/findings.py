"""Invented findings of the interruption bench, for the tests of its tables and pictures."""

from __future__ import annotations

from typing import Any

from appliance.hear.bargein.recordings import RecordingKind
from lab.bench.interruption_plan import QUIET, RoomCondition, TrialJob, place
from lab.bench.interruption_trials import InterruptionTrial, SynthesisedNoise


def job(part: str, condition: RoomCondition, by: str = "ours", seed: int = 1) -> TrialJob:
    specs = (
        (SynthesisedNoise("clap", 1),)
        if part == "over" or (by == "article" and condition is QUIET)
        else ()
    )
    return TrialJob(part, by, condition.name, place(condition, (0.2, 1001)), specs, 60.0, seed)  # type: ignore[arg-type]  # kinds of the test


def trial(kind: RecordingKind, verdict: str | None, **fields: Any) -> InterruptionTrial:
    usual: dict[str, Any] = {"real": True, "clear": True, "length_ms": 400.0, "stop_ms": 20.0}
    opinions = ((100, 0.2, 0.7, 0.1), (300, 0.3, 0.6, 0.1))
    return InterruptionTrial(f"{verdict}/anna_0", kind, verdict=verdict, opinions=opinions,
    age_ms=300,
                 **usual | fields)  # fmt: skip


OVER = [trial("interruption", "interruption")] * 9 + [trial("interruption", "backchannel")]
OVER += [trial("backchannel", "backchannel")] * 8 + [trial("backchannel", "interruption")] * 2
OVER += [trial("noise", "noise")]
