"""Simulated cards that the tests of a file share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.audio.rig import Rig, rig_on
from tests.audio.sounds import DEEP


@pytest.fixture(scope="module", params=[16_000, 48_000])
def either_card(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rig]:
    """A card that supports 16 kHz, and one that supports only 48 kHz."""
    with rig_on(tmp_path_factory.mktemp("either"), rate_hz=request.param, **DEEP) as rig:
        yield rig


@pytest.fixture(scope="module")
def one_card(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with rig_on(tmp_path_factory.mktemp("one"), **DEEP) as rig:
        yield rig
