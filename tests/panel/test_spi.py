"""Bytes to an SPI device: one transfer a frame, and a bus that is none says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import PanelError
from appliance.panel.led_strip import APA102_HZ
from appliance.panel.spi import SpiBus


@pytest.mark.parametrize("what", ["missing", "a plain file"])
def test_a_bus_that_is_none_says_what_to_do(tmp_path: Path, what: str) -> None:
    path = tmp_path / "spidev0.0"
    if what == "a plain file":
        path.touch()
    with pytest.raises(PanelError) as caught:
        SpiBus(str(path), APA102_HZ)
    assert "dtparam=spi=on" in caught.value.remedy


def test_of_a_device_that_takes_no_settings_no_descriptor_is_left_open(tmp_path: Path) -> None:
    path = tmp_path / "spidev0.0"
    path.touch()
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(PanelError, match=str(path)):
        SpiBus(str(path), APA102_HZ)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
