"""Decides when the start of the box is over, for systemd. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from appliance.runtime.supervision.supervised_part import SupervisedPart

BEGIN_S = 150.0  # for parts that are not needed; below TimeoutStartSec=180 of the unit
# For a part that loads: the first prefill of persona, tools and memory (2,400 tokens) takes 160 s
# at the estimated 15 tokens a second of two cores of a Pi 5, and loading the model 45 s.
READ_S = 360.0


def is_started(parts: Iterable[SupervisedPart], since_s: float) -> bool:
    """Whether every needed part is ready or has failed, and each other part is ready, has failed
    or is late. `since_s`: seconds since the start began."""
    return all(
        part.failed or part.heart.is_ready or (not part.row.needed and _is_late(part, since_s))
        for part in parts
    )


def is_loading(parts: Iterable[SupervisedPart], since_s: float) -> bool:
    """Whether the start is not over and a part loads its data."""
    parts = tuple(parts)
    return not is_started(parts, since_s) and any(part.is_loading for part in parts)


def _is_late(part: SupervisedPart, since_s: float) -> bool:
    """Whether the start no longer waits for this part."""
    return since_s > (READ_S if part.is_loading else BEGIN_S) or part.back_off.struck
