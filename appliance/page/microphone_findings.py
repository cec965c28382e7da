"""Judges the microphone test: levels in, keys of findings out. Pure."""

from __future__ import annotations

from appliance.messages.trying import SoundRecorded

NOTHING_DB = -90.0  # peak level; a working microphone has at least its own noise
CLIPPED = 16  # samples; a single click at full scale does no harm
OFFSET_DB = -30.0  # 3 % of the range; removing an offset costs range, and clicks at the start
CLEAR_DB = (
    10.0  # speech above the room noise; below this no speech was recorded, or it is inaudible
)
QUIET_DB = -45.0  # speech level below which the onset threshold is in the microphone's own noise
NOISY_DB = -35.0  # room level between words, as in audio/device_checks.py


def findings(recorded: SoundRecorded) -> list[str]:
    """Last parts of keys `page-microphone-…`, the most severe first; ["good"] without a fault."""
    if recorded.peak_db < NOTHING_DB:
        return ["nothing"]
    found = []
    if recorded.clipped >= CLIPPED:
        found.append("clipped")
    if recorded.offset_db > OFFSET_DB:
        found.append("offset")
    if recorded.noise_db > NOISY_DB:
        found.append("noisy")
    if recorded.speech_db - recorded.noise_db < CLEAR_DB:
        found.append("nobody")
    elif recorded.speech_db < QUIET_DB:
        found.append("quiet")
    return found or ["good"]
