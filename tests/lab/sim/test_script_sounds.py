"""The sounds of a scene's script."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lab.sim import scene, script_sounds


def test_a_noise_of_the_script_sounds_and_is_as_loud_as_it_is_said_to_be() -> None:
    raw = {"owner": [{"at_s": 1, "noise": "cough", "seed": 3, "level_db": -30}]}
    loaded = scene.parse(raw, name="x", folder=Path())
    sound = script_sounds.make(loaded, loaded.owner[0])
    body = sound.samples[sound.onset : sound.end] / 32768
    assert 10 * np.log10(np.mean(np.square(body))) == pytest.approx(-30, abs=0.5)
    assert loaded.owner[0].what == "(cough)"
