"""Commands: what their fields may hold."""

from __future__ import annotations

import math

import pytest

from appliance.errors import BadMessage
from appliance.messages.commands import SetVolume
from appliance.messages.registry import decode, encode


def test_a_volume_that_is_no_share_is_no_message() -> None:
    for volume in (-0.1, 1.1, math.nan, math.inf):
        with pytest.raises(BadMessage):
            decode(encode(SetVolume(volume)))
    assert decode(encode(SetVolume(1.0))) == SetVolume(1.0)
