"""The level meter reports both voices: RMS in dB full scale over 40 ms, five in a message."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.level_meter import LevelMeter
from appliance.messages.viewing import LEVEL_MS, LEVELS, SILENCE_DB, SoundLevels
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples

SILENCE = np.zeros(BLOCK_FRAMES, np.int16)
BLOCKS = LEVELS * LEVEL_MS * RATE_HZ // 1000 // BLOCK_FRAMES  # of one message


def square(height: int) -> Samples:
    return np.full(BLOCK_FRAMES, height, np.int16)


def measured(meter: LevelMeter, owner: Samples, box: Samples) -> list[SoundLevels]:
    made = (meter.process(owner, box, 5000 + n * BLOCK_FRAMES) for n in range(BLOCKS))
    return [levels for levels in made if levels is not None]


@pytest.mark.parametrize(
    ("height", "db"), [(32_767, 0), (-32_768, 0), (16_384, -6), (328, -40), (1, -90), (0, -96)]
)
def test_a_level_is_relative_to_full_scale(height: int, db: int) -> None:
    meter = LevelMeter()
    meter.on = True
    assert measured(meter, square(height), SILENCE) == [
        SoundLevels(5000, (db,) * LEVELS, (SILENCE_DB,) * LEVELS)
    ]
    assert measured(meter, SILENCE, square(height))[0].box == (db,) * LEVELS


def test_nothing_is_measured_while_the_meter_is_off() -> None:
    meter = LevelMeter()
    assert measured(meter, square(1000), square(1000)) == []


def test_switching_the_meter_on_again_discards_earlier_blocks() -> None:
    meter = LevelMeter()
    meter.on = True
    meter.process(square(32_767), SILENCE, 0)
    meter.on = False
    meter.on = True
    assert measured(meter, SILENCE, SILENCE)[0].owner == (SILENCE_DB,) * LEVELS
