"""Audio blocks of 5 ms with a given level, tone and speech probability."""

from __future__ import annotations

import numpy as np

from appliance.hear.onset.frontend import AudioBlock


def block(energy_db: float, *, tone_hz: float = 1000, probability: float = 0.95) -> AudioBlock:
    wave = np.sin(2 * np.pi * tone_hz * np.arange(80) / 16_000) * 10 ** (energy_db / 20) * 2**0.5
    return AudioBlock(
        (wave * 32768).astype(np.int16), wave, energy_db, -62.0, 0.0, False, probability, False
    )


LOUD, QUIET = block(-26), block(-62)
