"""Is the start of the box over, for systemd? Pure: the parts and a time in, yes or no out."""

from __future__ import annotations

from collections.abc import Iterable

from appliance.runtime.supervision.supervised_part import SupervisedPart

BEGIN_S = 150.0  # for parts that the box can do without; below TimeoutStartSec=180 of the unit
# For a model that reads persona, tools and memory for the first time: 2,400 tokens take 160 s at
# the 15 a second that are estimated for two cores of a Pi 5, and loading 45 s.
READ_S = 360.0


def is_started(parts: Iterable[SupervisedPart], since_s: float) -> bool:
    """Every needed part does its work or has failed, and the others have been given the time for
    it. `since_s`: seconds since the start began."""
    return all(
        part.failed or part.heart.is_ready or (not part.row.needed and _late(part, since_s))
        for part in parts
    )


def is_loading(parts: Iterable[SupervisedPart], since_s: float) -> bool:
    """The start goes on, and a part reads what its work begins with."""
    parts = tuple(parts)
    return not is_started(parts, since_s) and any(part.is_loading for part in parts)


def _late(part: SupervisedPart, since_s: float) -> bool:
    """The start waits for it no longer."""
    return since_s > (READ_S if part.is_loading else BEGIN_S) or part.back_off.struck
