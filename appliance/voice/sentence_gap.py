"""The silence between two sentences of an answer, or between two parts of one sentence."""

from __future__ import annotations

from appliance.pcm import RATE_HZ

GAP_FRAMES = RATE_HZ * 200 // 1000  # of silence between two sentences
CLAUSE_GAP_FRAMES = RATE_HZ * 100 // 1000  # after a comma, if the first sentence was split there
JOIN_GAP_FRAMES = RATE_HZ * 30 // 1000  # where it was split before a conjunction or a phrase


def gap_after(text: str) -> int:
    """Samples of silence between `text` and what is said next, by how `text` ends."""
    last = text.rstrip("\"'”’»)]")[-1:]
    if not last or last in ".!?…":
        return GAP_FRAMES
    return CLAUSE_GAP_FRAMES if last in ",;:—–-" else JOIN_GAP_FRAMES
