"""Commands: the ranges of their fields."""

from __future__ import annotations

import math

import pytest

from appliance.errors import BadMessage
from appliance.messages.commands import SetVolume
from appliance.messages.registry import decode, encode


def test_a_volume_outside_0_to_1_is_refused() -> None:
    for volume in (-0.1, 1.1, math.nan, math.inf):
        with pytest.raises(BadMessage):
            decode(encode(SetVolume(volume)))
    assert decode(encode(SetVolume(1.0))) == SetVolume(1.0)
