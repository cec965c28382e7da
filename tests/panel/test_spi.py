"""An unusable SPI device raises an error with a remedy and leaks no descriptor."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from appliance.errors import PanelError
from appliance.panel.led_strip import APA102_HZ
from appliance.panel.spi import SpiBus


@pytest.mark.parametrize("kind", ["missing", "a plain file"])
def test_an_unusable_bus_raises_an_error_with_a_remedy(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "spidev0.0"
    if kind == "a plain file":
        path.touch()
    with pytest.raises(PanelError) as caught:
        SpiBus(str(path), APA102_HZ)
    assert "dtparam=spi=on" in caught.value.remedy


def test_a_device_that_refuses_settings_leaves_no_open_descriptor(tmp_path: Path) -> None:
    path = tmp_path / "spidev0.0"
    path.touch()
    gc.collect()  # else what earlier tests left may be closed meanwhile
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(PanelError, match=str(path)):
        SpiBus(str(path), APA102_HZ)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
