"""What the microphone test means: levels in, keys of sentences and remedies out. Pure."""

from __future__ import annotations

from appliance.messages.trying import SoundRecorded

NOTHING_DB = -90.0  # of the loudest sample: a microphone that is open gives its own noise at least
CLIPPED = 16  # samples: one click at the end of the range does no harm
OFFSET_DB = -30.0  # 3 % of the range; what removes it costs range, and clicks when it starts
CLEAR_DB = 10.0  # of speech over the room: with less nobody has spoken, or nobody is heard
QUIET_DB = -45.0  # of speech: the onset's threshold lies in the microphone's own noise then
NOISY_DB = -35.0  # of the room between words, as in audio/device_checks.py


def findings(recorded: SoundRecorded) -> list[str]:
    """Last parts of keys `page-microphone-…`, the gravest first; "good" alone where nothing is."""
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
