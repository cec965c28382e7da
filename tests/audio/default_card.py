"""A software card as the only one of this process: what ALSA opens here is it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.sim.alsa_plugin import alsa_environment
from lab.sim.simulated_card import SoundCard


@contextlib.contextmanager
def default_card(
    library: Path, monkeypatch: pytest.MonkeyPatch, rate_hz: int, *, granularity_frames: int = 1
) -> Iterator[SoundCard]:
    """Its name is `sim`. `library`: the plugin, as `simcard_library` builds it."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:  # memory, not a disk
        path = Path(folder) / "card"
        for name, value in alsa_environment(Path(folder), {"sim": path}, library).items():
            monkeypatch.setenv(name, value)
        with SoundCard.create(path, rate_hz, granularity_frames=granularity_frames) as made:
            yield made
