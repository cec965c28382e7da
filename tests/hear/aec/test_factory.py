"""The settings select the canceller, and the pass-through canceller changes nothing."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
import pytest

from appliance.hear.aec.factory import PassThroughCanceller, make_canceller
from appliance.hear.aec.kalman import KalmanCanceller
from appliance.settings import load_defaults

ECHO = load_defaults().hearing.echo


@pytest.mark.parametrize("name", ["auto", "kalman"])
def test_auto_and_kalman_select_the_kalman_canceller(name: Literal["auto", "kalman"]) -> None:
    made = make_canceller(msgspec.structs.replace(ECHO, canceller=name), 80)
    assert isinstance(made, KalmanCanceller)


@pytest.mark.parametrize("name", ["hardware", "none"])
def test_hardware_and_none_pass_the_microphone_through(name: Literal["hardware", "none"]) -> None:
    made = make_canceller(msgspec.structs.replace(ECHO, canceller=name), 80)
    assert isinstance(made, PassThroughCanceller)
    mic = np.arange(80, dtype=np.int16)
    assert made.cancel_echo(mic, np.full(80, 1000, np.int16)) is mic
    assert not made.active
