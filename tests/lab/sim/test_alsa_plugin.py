"""The ALSA configuration for simulated cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import CardError
from lab.sim.alsa_plugin import alsa_environment


def test_the_alsa_configuration_names_every_card(tmp_path: Path) -> None:
    cards = {"sim": tmp_path / "a", "other": tmp_path / "b"}
    environment = alsa_environment(tmp_path, cards, plugin=tmp_path / "plugin.so")
    config = Path(environment["ALSA_CONFIG_PATH"]).read_text()
    assert "</usr/share/alsa/alsa.conf>" in config
    assert f'pcm_type.simcard {{ lib "{tmp_path}/plugin.so" }}' in config
    assert f'pcm.sim {{ type simcard shm "{tmp_path}/a" }}' in config
    assert f'pcm.other {{ type simcard shm "{tmp_path}/b" }}' in config


def test_a_path_that_alsa_cannot_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="cannot contain"):
        alsa_environment(tmp_path, {"sim": tmp_path / 'a"b'}, plugin=tmp_path / "plugin.so")
