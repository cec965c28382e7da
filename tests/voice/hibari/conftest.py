"""The synthesiser, loaded once, since that takes a second."""

from __future__ import annotations

import pytest

from appliance.voice.hibari.synthesiser import Synthesiser


@pytest.fixture(scope="package")
def voice() -> Synthesiser:
    return Synthesiser()
