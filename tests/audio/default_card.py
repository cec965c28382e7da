"""A software card as the only card of this process: ALSA opens no other here."""

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
    """A card named `sim`. `library` is the plugin that `simcard_library` builds."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:  # memory, not a disk
        path = Path(folder) / "card"
        for name, value in alsa_environment(Path(folder), {"sim": path}, library).items():
            monkeypatch.setenv(name, value)
        with SoundCard.create(path, rate_hz, granularity_frames=granularity_frames) as made:
            yield made
