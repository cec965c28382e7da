"""Boxes of one process share a launcher, unless a variable must be there at its exec."""

from __future__ import annotations

import os

import pytest

from lab.sim.launchers import launcher_for

pytestmark = pytest.mark.process


def test_boxes_with_the_same_environment_at_exec_share_a_launcher() -> None:
    shared = launcher_for(os.environ)
    assert launcher_for({**os.environ, "ALSA_CONFIG_PATH": "elsewhere"}) is shared
    preloaded = {**os.environ, "LD_LIBRARY_PATH": "/nowhere"}
    assert launcher_for(preloaded) is launcher_for(preloaded) is not shared
